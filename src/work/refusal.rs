//! Refusals of values, worded once for mutations and filters.

use crate::failure::{Code, Failure};
use crate::workspace::Cards;
use serde_json::Value as Json;

/// A value outside its vocabulary, details `{field, value, allowed}`; `what` is what cannot have the value.
pub fn not_allowed(code: Code, what: &str, field: &str, value: Json, allowed: &[&str]) -> Failure {
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = format!("{what} cannot be `{shown}`");
    Failure::new(code, text).with("field", field).with("value", value).with("allowed", allowed)
}

/// `CARD_AXIS_UNKNOWN` for names that the configuration does not declare, details `{axes, declared}`.
pub fn unknown_axes(unknown: &[&str], settings: &Cards) -> Failure {
    let declared: Vec<&str> = settings.axes.iter().map(|(name, _)| name.as_str()).collect();
    let known = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
    let text = format!("no axis {} is declared; declared: {known}", unknown.join(", "));
    Failure::new(Code::CARD_AXIS_UNKNOWN, text).with("axes", unknown).with("declared", declared)
}
