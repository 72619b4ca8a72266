//! What a file is compared by before it is changed.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// `sha256:` and the hex SHA-256 of a file's bytes.
pub fn revision(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(71);
    out.push_str("sha256:");
    for byte in Sha256::digest(bytes) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
