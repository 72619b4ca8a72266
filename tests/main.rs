//! The integration tests, one binary.

mod init;
mod workspace;
