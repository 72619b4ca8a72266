//! What a fragment and a release are made of: the tables that input is read by.

use super::LISTS;
use crate::failure::Code;
use crate::record;
use crate::workspace::edit::{Codes, Kind, Type};

/// Change fragments.
pub(super) static FRAGMENT: Kind = Kind {
    module: "changelog",
    noun: "fragment",
    show: "workfile changelog show",
    list: "workfile changelog list",
    lists: LISTS,
    fields: &[
        ("title", Type::Text),
        ("type", Type::Text),
        ("area", Type::Text),
        ("visibility", Type::Text),
        ("cards", Type::List),
        ("issues", Type::List),
        ("decisions", Type::List),
        ("related", Type::List),
        ("tags", Type::List),
    ],
    codes: Codes {
        unknown: Code::CHANGE_FIELD_UNKNOWN,
        invalid: Code::CHANGE_FIELD_INVALID,
        not_patchable: Code::CHANGE_FIELD_NOT_PATCHABLE,
        empty: Code::CHANGE_CHANGES_EMPTY,
        conflict: Code::CHANGE_WRITE_CONFLICT,
        not_found: Code::CHANGE_FRAGMENT_NOT_FOUND,
        ambiguous: Code::CHANGE_ID_AMBIGUOUS,
    },
};

const RELEASE_CODES: Codes = Codes {
    unknown: Code::CHANGE_FIELD_UNKNOWN,
    invalid: Code::RELEASE_FIELD_INVALID,
    not_patchable: Code::RELEASE_FIELD_NOT_AMENDABLE,
    empty: Code::RELEASE_AMEND_EMPTY,
    conflict: Code::RELEASE_WRITE_CONFLICT,
    not_found: Code::RELEASE_NOT_FOUND,
    ambiguous: Code::CHANGE_ID_AMBIGUOUS,
};

/// Releases, and what of one can be amended.
pub(super) static RELEASE: Kind = Kind {
    module: "changelog",
    noun: "release",
    show: "workfile changelog show",
    list: "workfile changelog list",
    lists: LISTS,
    fields: &[("title", Type::Text), ("date", Type::Text), ("commit", Type::Text), ("tags", Type::List)],
    codes: RELEASE_CODES,
};

/// What a release is cut from.
pub(super) static CUT: Kind = Kind {
    module: "changelog",
    noun: "release",
    show: "workfile changelog show",
    list: "workfile changelog list",
    lists: LISTS,
    fields: &[
        ("title", Type::Text),
        ("date", Type::Text),
        ("commit", Type::Text),
        ("tags", Type::List),
        (IDS, Type::List),
    ],
    codes: RELEASE_CODES,
};

/// The key that names fragments to release.
pub(super) const IDS: &str = "fragmentIds";

/// Longest part of a fragment's file name that comes from the title.
const SLUG: usize = 70;

/// The name of a fragment's file.
pub(super) fn file_name(id: &str, title: &str) -> String {
    record::file_name(id, title, SLUG, "change")
}
