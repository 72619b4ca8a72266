//! Generated files: managed blocks and what is built from them.

pub mod agents;
pub mod claude;
pub mod init;
pub mod managed;
pub mod upgrade;
