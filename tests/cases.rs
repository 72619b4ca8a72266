//! Situations that went wrong elsewhere, one test each, by the letter of their family.
//!
//! `a`: what hooks read and print. `b`: whose path it is. `c`: what a shell changed. `d`: claims and locks.
//! `f`: records on disk.

mod claims;
mod hooks;
mod paths;
mod records;
mod scan;
