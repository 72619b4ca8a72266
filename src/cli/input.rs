//! Input that does not fit on a command line: JSON and bodies, from a file or standard input.

use super::{Args, Context, Flag, Offers, split_list};
use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json};
use std::fs::File;
use std::io::{self, Read};

/// Fields from a file.
pub(super) const JSON_INPUT: Flag =
    Flag::value("json-input", "FILE", "fields as a JSON object, null clears one; - reads standard input")
        .offers(Offers::Files);

/// No input is larger.
const CAP: u64 = 16 * 1024 * 1024;

/// The text of a file, or of standard input for `-`; `CLI_INPUT_INVALID` when it cannot be read or is not UTF-8.
pub(super) fn text(context: &Context, path: &str) -> Result<String, Failure> {
    let bytes = if path == "-" {
        limited(io::stdin().lock())
    } else {
        File::open(context.cwd.join(path)).and_then(limited)
    };
    let bytes = bytes.map_err(|error| invalid(path, &error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| invalid(path, "not valid UTF-8"))
}

fn limited(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(CAP + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > CAP {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("larger than {CAP} bytes")));
    }
    Ok(bytes)
}

/// The JSON of `--json-input`; `None` without the flag.
pub(super) fn json(context: &Context, args: &Args) -> Result<Option<Json>, Failure> {
    let Some(path) = args.get("json-input") else { return Ok(None) };
    let text = text(context, path)?;
    // Some editors and shells put a mark in front of everything they write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    serde_json::from_str(text).map(Some).map_err(|error| invalid(path, &error.to_string()))
}

/// `--json-input` as an object; an empty one without the flag.
pub(super) fn object(context: &Context, args: &Args) -> Result<Map<String, Json>, Failure> {
    match json(context, args)? {
        None => Ok(Map::new()),
        Some(Json::Object(map)) => Ok(map),
        Some(_) => Err(invalid(args.get("json-input").unwrap_or_default(), "not a JSON object")),
    }
}

/// The changes of `workfile FAMILY patch ID`: the object of `--json-input`, which is needed.
pub(super) fn changes(
    context: &Context,
    args: &Args,
    family: &str,
    id: &str,
) -> Result<Map<String, Json>, Failure> {
    if args.has("json-input") {
        return object(context, args);
    }
    let text = format!("nothing to change on {id}: give --json-input");
    let failure = Failure::new(Code::CLI_ARGUMENT_REQUIRED, text).with("flag", "--json-input");
    let example = r#"echo '{"title": "New words"}' | workfile"#;
    Err(failure.remedy(format!("{example} {family} patch {id} --json-input -")))
}

/// What a flag that stands for a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// One text.
    Text,
    /// Texts, comma-separated.
    List,
}

/// The object of `--json-input` with the flags laid over it: each row is a flag, the key it sets and what it holds.
pub(super) fn fields(
    context: &Context,
    args: &Args,
    flags: &[(&str, &str, Form)],
) -> Result<Map<String, Json>, Failure> {
    let mut fields = object(context, args)?;
    for (flag, key, form) in flags {
        if let Some(value) = args.get(flag) {
            let value = match form {
                Form::Text => value.into(),
                Form::List => split_list(value).into(),
            };
            fields.insert((*key).to_owned(), value);
        }
    }
    Ok(fields)
}

fn invalid(path: &str, reason: &str) -> Failure {
    let shown = if path == "-" { "standard input" } else { path };
    Failure::new(Code::CLI_INPUT_INVALID, format!("cannot use {shown}: {reason}"))
        .with("path", path)
        .with("reason", reason)
}

/// Every `--axis name=value`: the names are distinct.
pub(super) fn axes(args: &Args) -> Result<Vec<(String, String)>, Failure> {
    let mut axes: Vec<(String, String)> = Vec::new();
    for given in args.all("axis") {
        let Some((name, value)) = given.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let text = format!("--axis takes NAME=VALUE, not `{given}`");
            return Err(Failure::new(Code::CLI_ARGUMENT_INVALID, text).with("flag", "--axis"));
        };
        if axes.iter().any(|(earlier, _)| earlier == name) {
            let text = format!("--axis names {name} twice");
            return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", "--axis"));
        }
        axes.push((name.to_owned(), value.to_owned()));
    }
    Ok(axes)
}

/// Lays the axes of the command line over those of the input; an `axes` that is no object is left to be refused.
pub(super) fn with_axes(input: &mut Map<String, Json>, axes: Vec<(String, String)>) {
    if axes.is_empty() {
        return;
    }
    if let Json::Object(map) = input.entry("axes").or_insert_with(|| Map::new().into()) {
        map.extend(axes.into_iter().map(|(name, value)| (name, Json::String(value))));
    }
}
