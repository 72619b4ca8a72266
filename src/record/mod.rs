//! One file format: a header of flat values between two fences, then Markdown.
//!
//! The header is a small subset that looks like YAML and is not parsed as YAML: every scalar is the text it shows. A
//! write touches the lines that a change names and no others; what cannot be rewritten safely is refused.

mod body;
mod digest;
mod document;
mod file;
mod header;
pub mod id;
pub mod order;
mod patch;
mod scalar;
mod slug;
mod text;
mod trail;
mod value;
mod write;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod yaml;

pub use body::{
    append_under_heading, fenced_lines, is_section_heading, keep_sections, open_fence, section_name,
    with_body, with_body_text,
};
pub use digest::{digest, is_digest};
pub use document::{Document, Head, Mention, NotARecord, decode, head_mentions, read, read_head};
pub use file::RecordFile;
pub use header::{Entry, Header, Style};
pub use patch::{Change, patch, render};
pub use slug::{file_name, slug};
pub use text::Text;
pub use trail::{is_trail_line, trail_line};
pub use value::{Item, Value, utf16_len};
