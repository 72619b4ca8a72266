//! The integration tests, one binary.

mod claude;
#[cfg(unix)]
mod launcher;
