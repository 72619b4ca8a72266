//! Session files: who signalled when.
use crate::clock::Time;
use std::path::Path;

/// What a session file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The session id as received.
    pub id: String,
    /// Who the session is.
    pub actor: Option<String>,
    /// The card the session works on.
    pub card: Option<String>,
    /// When it signalled first.
    pub started: Option<Time>,
    /// When it signalled last.
    pub last_signal: Option<Time>,
}

/// Every session file of a workspace that can be read, the latest signal first.
pub fn all(_root: &Path) -> Vec<Session> {
    todo!()
}
