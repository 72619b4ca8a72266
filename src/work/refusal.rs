//! Refusals of values, worded once for mutations and filters.

use crate::failure::{Code, Failure};
use crate::workspace::Cards;
pub use crate::workspace::edit::not_allowed;

/// `CARD_AXIS_UNKNOWN` for names that the configuration does not declare, details `{axes, declared}`.
pub fn unknown_axes(unknown: &[&str], settings: &Cards) -> Failure {
    let declared: Vec<&str> = settings.axes.iter().map(|(name, _)| name.as_str()).collect();
    let known = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
    let text = format!("no axis {} is declared; declared: {known}", unknown.join(", "));
    Failure::new(Code::CARD_AXIS_UNKNOWN, text).with("axes", unknown).with("declared", declared)
}
