//! What was typed: one table a command says which flags exist, and everything else is refused.

use super::near;
use crate::failure::{Code, Failure};
use lexopt::prelude::{Long, Short, Value};
use std::ffi::OsString;

/// How a flag takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No value: `--force`.
    Nothing,
    /// One value, once: `--scope a,b`.
    One,
    /// One value each time: `--axis a=b --axis c=d`.
    Many,
}

/// What a shell completes a value with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offers {
    /// Nothing: the value is free text.
    Nothing,
    /// Names of files.
    Files,
    /// Paths, comma-separated.
    Paths,
    /// Names of folders.
    Folders,
    /// The id of a card.
    Card,
    /// Ids of cards, comma-separated.
    Cards,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, comma-separated.
    Words(&'static [&'static str]),
}

/// One flag of a command.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The name without `--`.
    pub name: &'static str,
    /// How it takes its value.
    pub takes: Takes,
    /// What the value is called in the help; empty for none.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What a shell completes the value with.
    pub offers: Offers,
}

impl Flag {
    /// A flag without a value.
    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self { name, takes: Takes::Nothing, value: "", help, offers: Offers::Nothing }
    }

    /// A flag with a value.
    pub const fn value(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self { name, takes: Takes::One, value, help, offers: Offers::Nothing }
    }

    /// A flag with a value that may be given several times.
    pub const fn many(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self { name, takes: Takes::Many, value, help, offers: Offers::Nothing }
    }

    /// The same with what a shell completes its value with.
    #[must_use]
    pub const fn offers(self, offers: Offers) -> Self {
        Self { offers, ..self }
    }
}

/// Flags that every command has.
pub(super) const GLOBAL: &[Flag] = &[
    Flag::value("root", "DIR", "the workspace root itself; without it the current directory and upwards")
        .offers(Offers::Folders),
    Flag::switch("allow-new", "where no workspace is, use the directory as it is"),
    Flag::switch("json", "print one JSON value; failures as JSON on stderr"),
    Flag::switch("verbose", "print the workspace root on stderr first"),
    Flag::switch("dry-run", "say what would be done and change nothing, where the command has it"),
    Flag::switch("help", "print this help"),
];

/// The most operands of a command whose operands are text: any number, and a word that begins with one dash is one of them.
pub const FREE_TEXT: usize = usize::MAX;

/// The arguments of one command, checked against its table.
#[derive(Clone, Debug, Default)]
pub struct Args {
    command: String,
    words: Vec<String>,
    flags: Vec<(&'static str, String)>,
}

impl Args {
    /// Reads what stands behind the command's own words.
    ///
    /// `CLI_ARGUMENT_UNKNOWN` for a flag or word that the command does not have, `CLI_ARGUMENT_CONFLICT` for a flag
    /// given twice, `CLI_ARGUMENT_REQUIRED` for a flag without its value.
    pub fn parse(
        words: &[OsString],
        flags: &[Flag],
        most_words: usize,
        command: &str,
    ) -> Result<Self, Failure> {
        let mut parsed = Self { command: command.to_owned(), ..Self::default() };
        let mut parser = lexopt::Parser::from_args(words.iter().cloned());
        let help = format!("workfile {command} --help");
        let unknown = |what: String| {
            let text = format!("`workfile {command}` has no {what}");
            Failure::new(Code::CLI_ARGUMENT_UNKNOWN, text).remedy(help.clone())
        };
        let text_of = |value: OsString| {
            let text = value.into_string();
            text.map_err(|raw| {
                Failure::new(Code::CLI_ARGUMENT_INVALID, format!("{} is not UTF-8", raw.display()))
            })
        };
        loop {
            if most_words == FREE_TEXT
                && let Some(mut raw) = parser.try_raw_args()
                && let Some(word) = raw.next_if(is_text)
            {
                parsed.words.push(text_of(word)?);
                continue;
            }
            let next = parser.next().map_err(|error| unknown(format!("such argument: {error}")))?;
            let name = match next {
                None => return Ok(parsed),
                Some(Value(word)) => {
                    let word = text_of(word)?;
                    if parsed.words.len() >= most_words {
                        return Err(unknown(format!("place for `{word}`")).with("argument", word));
                    }
                    parsed.words.push(word);
                    continue;
                }
                Some(Short('h')) => "help".to_owned(),
                Some(Short(letter)) => return Err(unknown(format!("flag -{letter}"))),
                Some(Long(name)) => name.to_owned(),
            };
            let Some(flag) = GLOBAL.iter().chain(flags).find(|flag| flag.name == name) else {
                let known = GLOBAL.iter().chain(flags).map(|flag| flag.name);
                let meant = near::nearest(&name, known).map(|meant| format!(" (perhaps --{meant})"));
                let text = format!("flag --{name}{}", meant.unwrap_or_default());
                return Err(unknown(text).with("flag", format!("--{name}")));
            };
            if flag.takes != Takes::Many && parsed.has(flag.name) {
                let text = format!("--{name} is given twice");
                return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", format!("--{name}")));
            }
            let value = if flag.takes == Takes::Nothing {
                if parser.optional_value().is_some() {
                    let text = format!("--{name} takes no value");
                    return Err(
                        Failure::new(Code::CLI_ARGUMENT_INVALID, text).with("flag", format!("--{name}"))
                    );
                }
                String::new()
            } else {
                let missing = |_| {
                    let text = format!("--{name} needs a value {}", flag.value);
                    let failure = Failure::new(Code::CLI_ARGUMENT_REQUIRED, text).remedy(help.clone());
                    failure.with("flag", format!("--{name}"))
                };
                text_of(parser.value().map_err(missing)?)?
            };
            parsed.flags.push((flag.name, value));
        }
    }

    /// Every word behind the command's own.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The word at `index` behind the command's own.
    pub fn word(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(String::as_str)
    }

    /// The same, or `CLI_ARGUMENT_REQUIRED` naming what is missing.
    pub fn need(&self, index: usize, what: &str) -> Result<&str, Failure> {
        let missing = || {
            let text = format!("`workfile {}` is missing its {what}", self.command);
            let failure = Failure::new(Code::CLI_ARGUMENT_REQUIRED, text).with("argument", what);
            failure.remedy(format!("workfile {} --help", self.command))
        };
        self.word(index).filter(|word| !word.is_empty()).ok_or_else(missing)
    }

    /// Whether a flag was given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|(name, _)| *name == flag)
    }

    /// The value of a flag.
    pub fn get(&self, flag: &str) -> Option<&str> {
        self.flags.iter().find(|(name, _)| *name == flag).map(|(_, value)| value.as_str())
    }

    /// The same, or `CLI_ARGUMENT_REQUIRED` naming the flag. An empty value is one.
    pub fn flag(&self, flag: &str) -> Result<&str, Failure> {
        self.get(flag).ok_or_else(|| {
            let text = format!("`workfile {}` is missing --{flag}", self.command);
            let failure = Failure::new(Code::CLI_ARGUMENT_REQUIRED, text).with("flag", format!("--{flag}"));
            failure.remedy(format!("workfile {} --help", self.command))
        })
    }

    /// Every value of a repeatable flag.
    pub fn all<'a>(&'a self, flag: &'a str) -> impl Iterator<Item = &'a str> {
        self.flags.iter().filter(move |(name, _)| *name == flag).map(|(_, value)| value.as_str())
    }

    /// A comma-separated value as its non-blank parts, trimmed; `None` when the flag was not given.
    pub fn list(&self, flag: &str) -> Option<Vec<String>> {
        self.get(flag).map(split_list)
    }

    /// A whole number ≥ 1; `CLI_OPTION_INVALID` with `{option, value}` for anything else.
    pub fn at_least_one(&self, flag: &str) -> Result<Option<usize>, Failure> {
        match self.number(flag)? {
            Some(0) => Err(invalid_option(flag, "0", "a whole number from 1 on").with("value", 0)),
            number => Ok(number),
        }
    }

    /// A whole number ≥ 0; `CLI_OPTION_INVALID` with `{option, value}` for anything else.
    pub fn number(&self, flag: &str) -> Result<Option<usize>, Failure> {
        let Some(text) = self.get(flag) else { return Ok(None) };
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if plain => Ok(Some(number)),
            _ => Err(invalid_option(flag, text, "a whole number")),
        }
    }
}

/// Whether a word that begins with a dash is no flag.
fn is_text(word: &std::ffi::OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.starts_with(b"-") && !bytes.starts_with(b"--") && bytes != b"-h"
}

/// The trimmed, non-blank parts of a comma-separated text.
pub fn split_list(text: &str) -> Vec<String> {
    text.split(',').map(crate::path::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// `CLI_OPTION_INVALID` for a value that does not parse.
pub fn invalid_option(flag: &str, value: &str, wanted: &str) -> Failure {
    Failure::new(Code::CLI_OPTION_INVALID, format!("--{flag} takes {wanted}, not `{value}`"))
        .with("option", format!("--{flag}"))
        .with("value", value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] =
        &[Flag::value("scope", "PATHS", ""), Flag::switch("force", ""), Flag::many("axis", "NAME=VALUE", "")];

    fn parse(words: &[&str]) -> Result<Args, Failure> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Args::parse(&words, FLAGS, 1, "card claim")
    }

    #[test]
    fn h35_both_spellings_of_a_value_are_one() {
        for words in [&["T-1", "--scope=a,b"][..], &["--scope", "a, b,", "T-1"]] {
            let args = parse(words).unwrap();
            assert_eq!(args.list("scope").unwrap(), ["a", "b"]);
            assert_eq!(args.word(0), Some("T-1"));
        }
        assert_eq!(
            parse(&["--axis", "a=b", "--axis=c=d"]).unwrap().all("axis").collect::<Vec<_>>(),
            ["a=b", "c=d"]
        );
    }

    #[test]
    fn a_command_that_takes_text_takes_words_with_a_dash() {
        let parse = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Args::parse(&words, FLAGS, FREE_TEXT, "search")
        };
        let args = parse(&["-status:done", "a", "-b", "--scope", "-x", "--", "--c", "-h"]).unwrap();
        assert_eq!(args.words(), ["-status:done", "a", "-b", "--c", "-h"]);
        assert_eq!(args.get("scope"), Some("-x"));
        assert!(parse(&["a", "-h"]).unwrap().has("help"));
        assert_eq!(parse(&["--c"]).unwrap_err().code, Code::CLI_ARGUMENT_UNKNOWN);
    }

    #[test]
    fn what_is_not_in_the_table_is_refused() {
        let code = |words: &[&str]| parse(words).unwrap_err().code;
        assert_eq!(code(&["--nope"]), Code::CLI_ARGUMENT_UNKNOWN);
        assert_eq!(code(&["-x"]), Code::CLI_ARGUMENT_UNKNOWN);
        assert_eq!(code(&["T-1", "T-2"]), Code::CLI_ARGUMENT_UNKNOWN);
        assert_eq!(code(&["--force", "--force"]), Code::CLI_ARGUMENT_CONFLICT);
        assert_eq!(code(&["--scope=a", "--scope=b"]), Code::CLI_ARGUMENT_CONFLICT);
        assert_eq!(code(&["--scope"]), Code::CLI_ARGUMENT_REQUIRED);
        assert_eq!(code(&["--force=yes"]), Code::CLI_ARGUMENT_INVALID);
    }
}
