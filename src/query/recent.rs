//! The order of what nobody searched for: what changed last comes first.

use crate::record::order::{natural, text};

/// Sorts records by `(id, updated, title)`: `updated` descending, without one last, then by title, then by id.
pub fn sort<'a, T>(records: &mut [&'a T], key: impl Fn(&'a T) -> (&'a str, Option<&'a str>, &'a str)) {
    records.sort_by(|left, right| {
        let ((id, updated, title), (other_id, other_updated, other_title)) = (key(left), key(right));
        other_updated.cmp(&updated).then_with(|| text(title, other_title)).then_with(|| natural(id, other_id))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_last_comes_first_then_the_title_then_the_id() {
        let records = [
            ("A-1", None, "a"),
            ("A-10", Some("2026-01-02"), "b"),
            ("A-2", Some("2026-01-02"), "b"),
            ("A-3", Some("2026-01-02"), "A"),
            ("A-4", Some("2026-01-03"), "z"),
        ];
        let mut sorted: Vec<_> = records.iter().collect();
        sort(&mut sorted, |record| *record);
        let ids: Vec<&str> = sorted.iter().map(|record| record.0).collect();
        assert_eq!(ids, ["A-4", "A-3", "A-2", "A-10", "A-1"]);
    }
}
