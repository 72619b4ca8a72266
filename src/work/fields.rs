//! The table of a card's fields in the order of a new header, and the vocabularies of the protocol.

pub use crate::activity::board::LISTS;
use crate::workspace::Cards;
pub use crate::workspace::{EFFORTS, PRIORITIES, STATUSES, TYPES};

/// Where a card can have come from.
pub const RAISED: [&str; 2] = ["reported", "derived"];

/// The status that is always claimed.
pub const DOING: &str = "doing";
/// The status of work that is built and not verified yet.
pub const REVIEW: &str = "review";
/// The status of verified work.
pub const DONE: &str = "done";
/// The status of work that will not be done.
const DISCARDED: &str = "discarded";

/// Whether work in this status is still ahead.
pub fn is_open(status: &str) -> bool {
    !matches!(status, DONE | DISCARDED)
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One text.
    Text,
    /// A list of texts.
    List,
    /// Verify entries.
    Verify,
}

/// Fields that create and patch input may name, in the order of a new header. The declared axes stand behind `area`;
/// `id` comes first, `created` and `updated` last.
pub const WRITABLE: [(&str, Kind); 19] = [
    ("title", Kind::Text),
    ("status", Kind::Text),
    ("type", Kind::Text),
    ("priority", Kind::Text),
    ("area", Kind::Text),
    ("parent", Kind::Text),
    ("depends", Kind::List),
    ("milestone", Kind::Text),
    ("source", Kind::Text),
    ("tags", Kind::List),
    ("effort", Kind::Text),
    ("scope", Kind::List),
    ("related", Kind::List),
    ("origin", Kind::List),
    ("raised", Kind::Text),
    ("start", Kind::Text),
    ("due", Kind::Text),
    ("claimed_by", Kind::Text),
    ("claimed_at", Kind::Text),
];

/// The field of verify entries, written behind the others.
pub const VERIFY: &str = "verify";

/// What a writable field of this project holds; `None` for a key that input may not name.
pub fn kind(key: &str, settings: &Cards) -> Option<Kind> {
    if key == VERIFY {
        return Some(Kind::Verify);
    }
    let fixed = WRITABLE.iter().find(|(name, _)| *name == key).map(|(_, kind)| *kind);
    fixed.or_else(|| vocabulary(key, settings).is_some().then_some(Kind::Text))
}

/// The declared values of an axis.
pub fn vocabulary<'a>(axis: &str, settings: &'a Cards) -> Option<&'a [String]> {
    settings.axes.iter().find(|(name, _)| name == axis).map(|(_, values)| values.as_slice())
}

/// The place of a writable field in a new header.
pub(super) fn rank(key: &str, settings: &Cards) -> usize {
    let axes = settings.axes.len();
    let area = WRITABLE.iter().position(|(name, _)| *name == "area").unwrap_or(0);
    if let Some(at) = WRITABLE.iter().position(|(name, _)| *name == key) {
        return if at > area { at + axes } else { at };
    }
    match settings.axes.iter().position(|(name, _)| name == key) {
        Some(at) => area + 1 + at,
        None => WRITABLE.len() + axes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::settings;
    use crate::workspace::{Access, Missing, Start, Workspace};
    use serde_json::{Value as Json, json};

    #[test]
    fn axes_stand_behind_the_area_and_verify_comes_last() {
        let settings = settings();
        let mut keys = vec!["verify", "claimed_at", "parent", "context", "area", "title"];
        keys.sort_by_key(|key| rank(key, &settings));
        assert_eq!(keys, ["title", "area", "context", "parent", "claimed_at", "verify"]);
    }

    #[test]
    fn input_may_not_name_what_the_program_writes() {
        let settings = settings();
        for key in ["id", "created", "updated", "verified", "body", "revision", "axes", "nope"] {
            assert_eq!(kind(key, &settings), None, "{key}");
        }
        assert_eq!(kind("context", &settings), Some(Kind::Text));
        assert_eq!(kind("verify", &settings), Some(Kind::Verify));
    }

    #[test]
    fn what_is_read_as_a_list_is_written_as_one() {
        let written = WRITABLE.iter().filter(|(_, kind)| *kind == Kind::List);
        let mut written: Vec<&str> = written.map(|(name, _)| *name).collect();
        let mut read = LISTS;
        written.sort_unstable();
        read.sort_unstable();
        assert_eq!(written, read);
    }

    #[test]
    fn no_axis_has_the_name_of_a_field() {
        let root = tempfile::tempdir().unwrap();
        let own = ["id", "created", "updated", "verified", VERIFY];
        let names = || WRITABLE.iter().map(|(name, _)| *name).chain(own);
        let axes: serde_json::Map<String, Json> =
            names().map(|name| (name.to_owned(), json!(["x"]))).collect();
        let config = json!({"schemaVersion": 2, "cards": {"axes": axes}});
        std::fs::write(root.path().join("project.config.json"), config.to_string()).unwrap();
        let start = Start::Exactly(root.path().to_owned());
        let failure = Workspace::load(&start, Missing::Refuse, Access::Write).unwrap_err();
        let issues = failure.details["issues"].as_array().unwrap();
        for name in names() {
            let path = format!("cards.axes.{name}");
            let reserved =
                |issue: &&Json| issue["path"] == path && issue["code"] == "CONFIG_CARDS_AXIS_RESERVED";
            assert!(issues.iter().any(|issue| reserved(&issue)), "{name}");
        }
    }

    #[test]
    fn only_two_statuses_are_closed() {
        assert_eq!(STATUSES.iter().filter(|status| !is_open(status)).count(), 2);
    }
}
