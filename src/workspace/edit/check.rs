//! The rules that every kind shares, asked of a header as it would become.

use crate::clock;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::record::{Header, Value, id};
use serde_json::Value as Json;

/// A record before it is written.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What messages call it: its id, unless it has none yet.
    pub called: &'a str,
    /// Its header with the changes made.
    pub header: &'a Header,
}

impl<'a> Candidate<'a> {
    /// The text of a key that is not blank.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.header.text(key).filter(|value| !trim(value).is_empty())
    }

    /// A value of any shape that is not blank.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        let blank = |value: &Value| value.as_text().map_or(value.is_empty(), |text| trim(text).is_empty());
        self.header.get(key).filter(|value| !blank(value))
    }

    /// Every one of `keys` is there; the refusal names those that are not.
    pub fn required(&self, keys: &[&str], code: Code) -> Result<(), Failure> {
        let missing: Vec<&str> = keys.iter().copied().filter(|key| self.value(key).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let text = format!("{} would have no {}", self.called, missing.join(", "));
        Err(Failure::new(code, text).with("fields", missing))
    }

    /// The id is `<prefix>-` and at least four digits.
    pub fn id(&self, prefix: &str, code: Code) -> Result<(), Failure> {
        let found = self.text("id").unwrap_or_default();
        if id::is_valid(found, prefix) {
            return Ok(());
        }
        let text = format!("the id {found} is not {prefix}- and four or more digits");
        Err(Failure::new(code, text).with("id", found).with("prefix", prefix))
    }

    /// A value, if there is one, is one of `allowed`.
    pub fn one_of<S: AsRef<str>>(&self, key: &str, allowed: &[S], code: Code) -> Result<(), Failure> {
        let Some(value) = self.value(key) else { return Ok(()) };
        let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
        match value.as_text() {
            Some(text) if allowed.contains(&text) => Ok(()),
            _ => {
                Err(not_allowed(code, &format!("`{key}` of {}", self.called), key, value.to_json(), &allowed))
            }
        }
    }

    /// Those of `keys` that are there are days that exist.
    pub fn dates(&self, keys: &[&str], code: Code) -> Result<(), Failure> {
        for key in keys {
            let Some(value) = self.value(key) else { continue };
            if !value.as_text().is_some_and(clock::is_date) {
                let text = format!("`{key}` of {} is no day written YYYY-MM-DD", self.called);
                return Err(Failure::new(code, text).with("field", *key).with("value", value.to_json()));
            }
        }
        Ok(())
    }

    /// It was not changed before it was made.
    pub fn range(&self, code: Code) -> Result<(), Failure> {
        match (self.text("created"), self.text("updated")) {
            (Some(created), Some(updated)) if updated < created => {
                let text = format!(
                    "{} would be updated on {updated}, before it was created on {created}",
                    self.called
                );
                Err(Failure::new(code, text).with("created", created).with("updated", updated))
            }
            _ => Ok(()),
        }
    }
}

/// A value outside its vocabulary, details `{field, value, allowed}`; `what` is what cannot have the value.
pub fn not_allowed(code: Code, what: &str, field: &str, value: Json, allowed: &[&str]) -> Failure {
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = format!("{what} cannot be `{shown}`");
    Failure::new(code, text).with("field", field).with("value", value).with("allowed", allowed)
}
