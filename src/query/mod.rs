//! Questions about records: which can be started, which match.

pub mod list;
pub mod next;

use std::cmp::Ordering;

/// The order of ids: text without regard to case, in which a run of digits compares as a number; ties by bytes.
pub fn natural(left: &str, right: &str) -> Ordering {
    let (mut a, mut b) = (left, right);
    loop {
        let (x, y) = (chunk(a), chunk(b));
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len()).then_with(|| left.cmp(right));
        }
        let order = if is_number(x) && is_number(y) {
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            x.to_lowercase().cmp(&y.to_lowercase())
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[x.len()..], &b[y.len()..]);
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The first run of digits or of anything else.
fn chunk(text: &str) -> &str {
    let number = is_number(text);
    let end = text.find(|c: char| c.is_ascii_digit() != number).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_compare_as_numbers() {
        let mut ids = ["T-10000", "T-9999", "t-3", "T-0010", "T-0002", "ADR-0001", "T-002", "T-0002-x"];
        ids.sort_by(|a, b| natural(a, b));
        assert_eq!(ids, ["ADR-0001", "T-0002", "T-002", "T-0002-x", "t-3", "T-0010", "T-9999", "T-10000"]);
    }
}
