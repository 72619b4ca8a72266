//! What went wrong, for people and for programs: a stable code, a text that names the file, a remedy.
//!
//! The table of codes at the end of this file is the only place that knows exit numbers.

use serde_json::{Map, Value};
use std::fmt;

/// The kind of a failure; it decides status and exit number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Bad input or a refused operation: 400, exit 1.
    Validation,
    /// No such thing: 404, exit 1.
    NotFound,
    /// Somebody was there first: 409, exit 3.
    Conflict,
    /// The workspace cannot be loaded: 400, exit 2.
    Configuration,
    /// Nobody foresaw it: 500, exit 2.
    Internal,
}

/// A stable code; its text is part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code as it is printed, `SCREAMING_SNAKE`.
    pub name: &'static str,
    /// Decides the exit number.
    pub class: Class,
}

impl Code {
    /// The exit number of a command that fails with this code.
    pub const fn exit(self) -> u8 {
        match self.class {
            Class::Validation | Class::NotFound => 1,
            Class::Configuration | Class::Internal => 2,
            Class::Conflict => 3,
        }
    }
}

/// A refused or failed operation. Whoever returns one has left every record as it was.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What happened, for programs.
    pub code: Code,
    /// What happened, for people: lower case, names the file or the value, no full stop.
    pub text: String,
    /// Commands that get on from here, as they are typed; each exists.
    pub remedy: Vec<String>,
    /// Facts for programs; empty when there are none.
    pub details: Map<String, Value>,
}

impl Failure {
    /// A failure with neither remedy nor details.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), remedy: Vec::new(), details: Map::new() }
    }

    /// Adds one fact.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Adds one command that gets on from here.
    #[must_use]
    pub fn remedy(mut self, command: impl Into<String>) -> Self {
        self.remedy.push(command.into());
        self
    }

    /// An input or output error of the system at `path`.
    pub fn io(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(Code::INTERNAL_ERROR, format!("cannot {doing} {}: {error}", path.display()))
    }

    /// The text and the remedy in one line.
    pub fn message(&self) -> String {
        if self.remedy.is_empty() {
            return self.text.clone();
        }
        let commands: Vec<_> = self.remedy.iter().map(|command| format!("`{command}`")).collect();
        format!("{}; try {}", self.text, commands.join(" or "))
    }

    /// `{"error": {"code", "message", "details"?}}`, as `--json` prints it on stderr.
    pub fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), self.code.name.into());
        error.insert("message".to_owned(), self.message().into());
        if !self.details.is_empty() {
            error.insert("details".to_owned(), Value::Object(self.details.clone()));
        }
        Value::Object(Map::from_iter([("error".to_owned(), Value::Object(error))]))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name, self.message())
    }
}

impl std::error::Error for Failure {}

macro_rules! codes {
    ($($class:ident { $($name:ident)* })*) => {
        /// Every code, named as it is printed.
        #[allow(missing_docs, reason = "a code's name is its documentation; records.md 11.2 says when each is raised")]
        impl Code {
            $($(pub const $name: Self = Self { name: stringify!($name), class: Class::$class };)*)*

            /// All codes, in the order of the table.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];
        }
    };
}

codes! {
    Internal {
        INTERNAL_ERROR
    }
    Validation {
        CLI_COMMAND_UNKNOWN CLI_COMMAND_REQUIRED CLI_ARGUMENT_REQUIRED CLI_ARGUMENT_UNKNOWN CLI_ARGUMENT_CONFLICT
        CLI_ARGUMENT_INVALID CLI_OPTION_INVALID CLI_FLAG_UNSUPPORTED CLI_INPUT_INVALID
        WORKSPACE_VERSION_UNREADABLE
        RECORD_FRONTMATTER_MISSING RECORD_FRONTMATTER_OPAQUE RECORD_FRONTMATTER_UNREPRESENTABLE
        RECORD_FRONTMATTER_DUPLICATE_KEY RECORD_PATH_ESCAPES_WORKSPACE
        CARD_ID_REQUIRED CARD_TITLE_REQUIRED CARD_REQUIRED_FIELD CARD_TITLE_TOO_LONG CARD_ENUM_INVALID
        CARD_DATE_INVALID CARD_DATE_RANGE_INVALID CARD_RAISED_INVALID CARD_AXES_INVALID CARD_AXIS_UNKNOWN
        CARD_AXIS_VALUE_INVALID CARD_FIELD_NOT_PATCHABLE CARD_CHANGES_INVALID CARD_CHANGES_EMPTY CARD_FIELD_UNKNOWN
        CARD_FIELD_INVALID CARD_SELF_PARENT CARD_PARENT_NOT_FOUND CARD_PARENT_CYCLE CARD_HIERARCHY_TOO_DEEP
        CARD_SELF_DEPENDENCY CARD_DEPENDENCY_NOT_FOUND CARD_DEPENDENCY_CYCLE CARD_SELF_ORIGIN
        CARD_CLAIM_TIMESTAMP_INVALID CARD_CLAIM_PARTIAL CARD_CLAIM_REQUIRED CARD_CLAIM_STATUS_INVALID
        CARD_CLAIM_ACTOR_REQUIRED CARD_ACTOR_INVALID CARD_CLAIM_BREAK_REASON_REQUIRED CARD_FORCE_REASON_REQUIRED
        CARD_RELEASE_STATUS_INVALID CARD_ARCHIVE_STATUS_INVALID CARD_REOPEN_STATUS_INVALID CARD_NOTE_REQUIRED
        CARD_NOTE_SECTION_INVALID CARD_BODY_REQUIRED CARD_ID_INVALID CARD_TARGET_REQUIRED
        CARD_ACCEPTANCE_MACHINE_OWNED
        CARD_VERIFICATION_NOT_APPLICABLE CARD_VERIFICATION_METHOD_CONFLICT CARD_VERIFICATION_METHOD_INVALID
        CARD_VERIFICATION_RUN_REQUIRED CARD_VERIFICATION_EVIDENCE_REQUIRED CARD_VERIFICATION_ACTOR_REQUIRED
        CARD_VERIFY_INVALID CARD_VERIFY_KEY_UNKNOWN CARD_VERIFY_ID_INVALID CARD_VERIFY_ID_DUPLICATE
        CARD_VERIFY_RUN_REQUIRED CARD_VERIFY_RUN_INVALID CARD_VERIFY_COMMAND_NOT_ALLOWED CARD_VERIFY_CRITERIA_INVALID
        CARD_VERIFY_DIGEST_INVALID CARD_VERIFY_CRITERION_UNKNOWN CARD_VERIFY_NONE_DECLARED CARD_VERIFY_ENTRY_UNKNOWN
        CARD_VERIFY_NO_BASE CARD_ACCEPTANCE_EMPTY CARD_ACCEPTANCE_INDEX_UNKNOWN CARD_ACCEPTANCE_NOT_BOUND
        CARD_ACCEPTANCE_WRITE_FAILED
        MODULE_DISABLED
        DOC_TITLE_REQUIRED DOC_REQUIRED_FIELDS_MISSING DOC_ID_INVALID DOC_TITLE_TOO_LONG DOC_REVIEW_INTERVAL_INVALID
        DOC_KIND_INVALID DOC_STATUS_INVALID DOC_DATE_INVALID DOC_DATE_RANGE_INVALID DOC_FIELD_UNKNOWN DOC_FIELD_INVALID
        DOC_FIELD_NOT_PATCHABLE DOC_CHANGES_EMPTY DOC_FOLDER_INVALID DOC_FOLDER_REQUIRED DOC_NOT_MANAGED DOC_BODY_REQUIRED
        DOC_NOTE_REQUIRED DOC_NOTE_SECTION_INVALID DOC_FILE_TOO_LARGE
        DOCTOR_BASELINE_INVALID
        CHANGE_FRONTMATTER_REQUIRED CHANGE_ID_REQUIRED RELEASE_FRONTMATTER_REQUIRED RELEASE_ID_REQUIRED
        CHANGE_TITLE_REQUIRED CHANGE_REQUIRED_FIELDS_MISSING CHANGE_ID_INVALID CHANGE_TYPE_INVALID
        CHANGE_VISIBILITY_INVALID CHANGE_AREA_INVALID CHANGE_DATE_INVALID CHANGE_DATE_RANGE_INVALID
        CHANGE_RECORD_NOT_A_FRAGMENT CHANGE_FRAGMENT_RELEASED CHANGE_FIELD_NOT_PATCHABLE CHANGE_FIELD_UNKNOWN
        CHANGE_FIELD_INVALID CHANGE_CHANGES_EMPTY CHANGELOG_OUTPUT_OUTSIDE_WORKSPACE
        RELEASE_VERSION_REQUIRED RELEASE_VERSION_INVALID RELEASE_DATE_INVALID RELEASE_FRAGMENTS_REQUIRED
        RELEASE_FRAGMENT_INVALID RELEASE_FIELD_INVALID RELEASE_NOT_AMENDABLE RELEASE_FIELD_NOT_AMENDABLE RELEASE_AMEND_EMPTY
        RELEASE_MISSING_REQUIRED
        MEMORY_FRONTMATTER_REQUIRED MEMORY_ID_REQUIRED MEMORY_COLLECTION_DISABLED MEMORY_TITLE_REQUIRED
        MEMORY_REQUIRED_FIELDS_MISSING MEMORY_ID_INVALID MEMORY_STATUS_INVALID MEMORY_DATE_INVALID
        MEMORY_DATE_RANGE_INVALID MEMORY_FIELD_UNKNOWN MEMORY_FIELD_INVALID MEMORY_FIELD_NOT_PATCHABLE
        MEMORY_CHANGES_EMPTY LEARNING_CONFIDENCE_INVALID LEARNING_OCCURRENCES_INVALID INCIDENT_SEVERITY_INVALID
        INCIDENT_TIMESTAMP_INVALID INCIDENT_TIMESTAMP_RANGE_INVALID MEMORY_GRADUATION_INVALID
        MEMORY_GRADUATION_TARGET_REQUIRED MEMORY_SUPERSESSION_SELF MEMORY_SUPERSESSION_UNSUPPORTED
        INIT_CANCELLED AGENT_TARGET_UNSUPPORTED
        MCP_ARGUMENT_REQUIRED MCP_ARGUMENT_INVALID MCP_TOOL_RESULT_TOO_LARGE MCP_METHOD_NOT_FOUND MCP_NOT_INITIALIZED
        MCP_REQUEST_METADATA_REQUIRED MCP_CLIENT_CAPABILITIES_REQUIRED MCP_TOOL_NOT_FOUND MCP_PROMPT_NOT_FOUND
        MCP_RESOURCE_NOT_FOUND MCP_RESOURCE_URI_INVALID MCP_CURSOR_INVALID
        SEARCH_REGEX_INVALID SEARCH_REGEX_TIMEOUT SEARCH_PROVIDER_UNAVAILABLE AGENT_CONTEXT_CARD_NOT_FOUND
    }
    NotFound {
        CARD_NOT_FOUND DOCTOR_BASELINE_MISSING RECORD_NOT_FOUND
        CHANGE_FRAGMENT_NOT_FOUND CHANGELOG_RECORD_NOT_FOUND RELEASE_NOT_FOUND
        DOC_NOT_FOUND MEMORY_NOT_FOUND MEMORY_GRADUATION_TARGET_NOT_FOUND
    }
    Conflict {
        MCP_SERVER_READ_ONLY
        WORKSPACE_READ_ONLY WRITE_LOCK_TIMEOUT CARD_WRITE_CONFLICT CARD_FILE_EXISTS CARD_ID_AMBIGUOUS
        CARD_ID_ALLOCATION_FAILED RECORD_ID_ALLOCATION_FAILED CARD_ALREADY_CLAIMED CARD_CLAIM_OWNER_MISMATCH CARD_ACCEPTANCE_UNMET
        CARD_ACCEPTANCE_UNREADABLE CARD_VERIFICATION_METHOD_REFUSED CARD_ID_TAKEN
        CHANGE_FILE_EXISTS CHANGE_ID_DUPLICATE CHANGE_ID_AMBIGUOUS CHANGE_WRITE_CONFLICT
        RELEASE_VERSION_DUPLICATE RELEASE_DIRECTORY_EXISTS RELEASE_WRITE_CONFLICT
        DOC_ID_DUPLICATE DOC_ID_ALLOCATION_FAILED DOC_ID_AMBIGUOUS DOC_WRITE_CONFLICT DOC_MOVE_TARGET_EXISTS
        MEMORY_ID_DUPLICATE MEMORY_ID_ALLOCATION_FAILED MEMORY_ID_AMBIGUOUS MEMORY_WRITE_CONFLICT
        MEMORY_SUPERSESSION_CYCLE
        INIT_FILE_CONFLICT GENERATED_FILE_UNMANAGED GENERATED_FILE_UNREADABLE CLAUDE_SETTINGS_CONFLICT
    }
    Configuration {
        WORKSPACE_NOT_FOUND CONFIG_SCHEMA_MISMATCH CONFIG_PATH_OUTSIDE_WORKSPACE CONFIG_SYNTAX_UNSUPPORTED
        CONFIG_SYNTAX_INVALID CONFIG_AMBIGUOUS
        CONFIG_SCHEMA_UNSUPPORTED CONFIG_NAME_REQUIRED CONFIG_STORAGE_REQUIRED
        CONFIG_LIST_INVALID CONFIG_LIST_EMPTY CONFIG_LIST_VALUE_INVALID CONFIG_LIST_VALUE_DUPLICATE
        CONFIG_CARDS_REQUIRED CONFIG_CARDS_AREAS_REQUIRED CONFIG_CARDS_AREA_INVALID CONFIG_CARDS_AREA_DUPLICATE
        CONFIG_CARDS_AXES_INVALID CONFIG_CARDS_AXIS_NAME_INVALID CONFIG_CARDS_AXIS_RESERVED
        CONFIG_CARDS_VERIFICATION_INVALID CONFIG_CARDS_VERIFY_COMMAND_INVALID CONFIG_CARDS_VERIFY_TIMEOUT_INVALID
        CONFIG_CARDS_VERIFICATION_METHODS_INVALID CONFIG_CARDS_VERIFICATION_METHOD_INVALID
        CONFIG_CARD_PREFIX_INVALID CONFIG_HIERARCHY_DEPTH_INVALID CONFIG_CLAIM_LEASE_INVALID
        CONFIG_DOCS_REQUIRED CONFIG_DOC_PREFIX_INVALID CONFIG_DOC_LAYOUT_INVALID CONFIG_DOC_DEFAULT_KIND_INVALID
        CONFIG_DOC_DEFAULT_STATUS_INVALID CONFIG_DOC_REVIEW_INTERVAL_INVALID CONFIG_DOC_MAX_FILE_BYTES_INVALID
        CONFIG_CHANGELOG_REQUIRED CONFIG_CHANGELOG_PREFIX_INVALID CONFIG_RELEASE_PREFIX_INVALID
        CONFIG_CHANGELOG_DEFAULT_TYPE_INVALID CONFIG_CHANGELOG_DEFAULT_VISIBILITY_INVALID
        CONFIG_RELEASE_STRATEGY_INVALID CONFIG_MEMORY_REQUIRED CONFIG_MEMORY_COLLECTION_UNSUPPORTED
        CONFIG_AGENTS_REQUIRED CONFIG_AGENT_TARGET_UNSUPPORTED CONFIG_AGENT_PATH_INVALID
        CONFIG_CI_REQUIRED CONFIG_CI_TARGET_UNSUPPORTED CONFIG_CI_NODE_VERSION_INVALID
        MCP_DISABLED CONFIG_MCP_REQUIRED CONFIG_MCP_BOOLEAN_INVALID CONFIG_MCP_TRANSPORT_INVALID CONFIG_MCP_LIMIT_INVALID
        CONFIG_SEARCH_REQUIRED CONFIG_SEARCH_PROVIDER_INVALID CONFIG_SEARCH_WEIGHT_INVALID
        CONFIG_SEARCH_PROVIDER_LIMIT_INVALID CONFIG_UI_PORT_INVALID
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_prints_code_text_and_remedy() {
        let failure = Failure::new(Code::CARD_NOT_FOUND, "no card T-0009").remedy("workfile card list");
        assert_eq!(failure.to_string(), "CARD_NOT_FOUND: no card T-0009; try `workfile card list`");
        let json = failure.with("id", "T-0009").to_json();
        assert_eq!(json["error"]["details"]["id"], "T-0009");
    }

    #[test]
    fn codes_are_distinct() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
