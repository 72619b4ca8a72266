//! What bytes are compared by: the revision of a file, the digest of a generated text or a criterion.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// `sha256:` and the hex SHA-256 of the bytes.
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    let mut out = String::with_capacity(71);
    out.push_str("sha256:");
    for byte in Sha256::digest(bytes) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Whether a text has the shape of a [`digest`].
pub fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
