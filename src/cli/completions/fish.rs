//! The script for fish: one line a word, each with the condition under which it fits.

use super::{families, firsts, flags, listed, operands};
use crate::cli::{Command, Offers, Takes};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const PRELUDE: &str = r#"# Completions of workfile for fish; `workfile completions fish` prints them.

# Whether exactly these words stand in front of the cursor.
function __workfile_at
    set -l typed (commandline -opc)
    set -e typed[1]
    test "$typed" = "$argv"
end

# Whether the command that is typed is this one.
function __workfile_in
    set -l typed (commandline -opc)
    set -e typed[1]
    test (count $typed) -ge (count $argv); and test "$typed[1..$(count $argv)]" = "$argv"
end

# Whether operand $argv[1] of this command is being typed, the first one being 0.
function __workfile_operand
    set -l wanted $argv[1]
    set -e argv[1]
    __workfile_in $argv; or return 1
    set -l typed (commandline -opc)
    set -l nth 0
    set -l at (math (count $argv) + 2)
    while test $at -le (count $typed)
        if contains -- $typed[$at] $__workfile_valued
            set at (math $at + 1)
        else if not string match -q -- '-*' $typed[$at]
            set nth (math $nth + 1)
        end
        set at (math $at + 1)
    end
    test $nth -eq $wanted
end

function __workfile_cards
    command workfile __complete cards 2>/dev/null
end

complete -c workfile -f
"#;

/// The script.
pub(super) fn script() -> String {
    let mut out = PRELUDE.to_owned();
    let is_valued = |flag: &&super::Flag| flag.takes != Takes::Nothing;
    let valued: BTreeSet<String> =
        listed().flat_map(flags).filter(is_valued).map(|flag| format!("--{}", flag.name)).collect();
    let valued: Vec<String> = valued.into_iter().collect();
    let _ = writeln!(out, "set -g __workfile_valued {}\n", valued.join(" "));
    for (word, about) in firsts() {
        for condition in ["__workfile_at", "__workfile_at help"] {
            line(&mut out, condition, &format!("-a {word}"), &about);
        }
    }
    for (family, seconds) in families() {
        for (word, about) in seconds {
            for condition in [format!("__workfile_at {family}"), format!("__workfile_at help {family}")] {
                line(&mut out, &condition, &format!("-a {word}"), about);
            }
        }
    }
    for command in listed() {
        branch(&mut out, command);
    }
    out
}

fn branch(out: &mut String, command: &Command) {
    let name = command.words.join(" ");
    out.push('\n');
    for flag in flags(command) {
        let value =
            if flag.takes == Takes::Nothing { String::new() } else { format!(" {}", value(flag.offers)) };
        line(out, &format!("__workfile_in {name}"), &format!("-l {}{value}", flag.name), flag.help);
    }
    for (nth, (operand, offers)) in operands(command).into_iter().enumerate() {
        if let Some(words) = words(offers) {
            // Cards bring their titles along.
            let about = if offers == Offers::Card { "" } else { operand };
            line(out, &format!("__workfile_operand {nth} {name}"), &format!("-a {words}"), about);
        }
    }
}

/// How a flag takes its value.
fn value(offers: Offers) -> String {
    match (offers, words(offers)) {
        (Offers::Files | Offers::Paths, _) => "-rF".to_owned(),
        (_, Some(words)) => format!("-xa {words}"),
        (_, None) => "-x".to_owned(),
    }
}

/// The words to choose from, quoted.
fn words(offers: Offers) -> Option<String> {
    Some(match offers {
        Offers::Nothing | Offers::Files | Offers::Paths => return None,
        Offers::Folders => "'(__fish_complete_directories)'".to_owned(),
        Offers::Card => "'(__workfile_cards)'".to_owned(),
        Offers::Cards => "'(__fish_complete_list , __workfile_cards)'".to_owned(),
        Offers::Word(words) => format!("'{}'", words.join(" ")),
        Offers::Words(words) => {
            format!("\"(__fish_complete_list , 'string split \\\" \\\" \\\"{}\\\"')\"", words.join(" "))
        }
    })
}

fn line(out: &mut String, condition: &str, what: &str, about: &str) {
    let _ = write!(out, "complete -c workfile -n '{condition}' {what}");
    if !about.is_empty() {
        let about = about.replace('\\', r"\\").replace('\'', r"\'");
        let _ = write!(out, " -d '{about}'");
    }
    out.push('\n');
}
