//! The script for zsh: one branch a command, each a call of `_arguments`.

use super::{families, firsts, flags, listed, operands};
use crate::cli::{Command, Offers, Takes};
use std::fmt::Write as _;

const PRELUDE: &str = r#"#compdef workfile
# Completions of workfile for zsh; `workfile completions zsh` prints them.

_workfile_cards() {
    local id title
    local -a cards
    while IFS=$'\t' read -r id title; do cards+=("$id:$title"); done < <(command workfile __complete cards 2>/dev/null)
    _describe -t cards card cards "$@"
}

_workfile_card_ids() {
    local id title
    local -a ids
    while IFS=$'\t' read -r id title; do ids+=("$id"); done < <(command workfile __complete cards 2>/dev/null)
    compadd "$@" -a ids
}

"#;

/// The script.
pub(super) fn script() -> String {
    let mut out = PRELUDE.to_owned();
    out.push_str("_workfile_first() {\n    local -a firsts\n    firsts=(\n");
    for (word, about) in firsts() {
        let _ = writeln!(out, "        {}", quoted(&format!("{word}:{}", plain(&about))));
    }
    out.push_str("    )\n    _describe -t commands command firsts\n}\n\n_workfile_second() {\n    local -a seconds\n    case $1 in\n");
    for (family, seconds) in families() {
        let _ = writeln!(out, "    {family})\n        seconds=(");
        for (word, about) in seconds {
            let _ = writeln!(out, "            {}", quoted(&format!("{word}:{}", plain(about))));
        }
        out.push_str("        )\n        ;;\n");
    }
    out.push_str(
        "    esac\n    (($#seconds)) && _describe -t commands command seconds\n}\n\n\
         _workfile() {\n    \
         if ((CURRENT == 2)); then _workfile_first; return; fi\n    \
         if [[ $words[2] == help ]]; then\n        \
         case $CURRENT in\n        \
         3) _workfile_first ;;\n        \
         4) _workfile_second $words[3] ;;\n        \
         esac\n        \
         return\n    \
         fi\n    \
         local second=''\n    \
         if ((CURRENT > 3)); then second=$words[3]; fi\n    \
         case \"$words[2] $second\" in\n",
    );
    // A family that is a command as well comes behind its own commands.
    let (one, more): (Vec<_>, Vec<_>) = listed().partition(|command| command.words.len() == 1);
    for command in more.into_iter().chain(one) {
        branch(&mut out, command);
    }
    out.push_str(
        "    *) if ((CURRENT == 3)); then _workfile_second $words[2]; fi ;;\n    esac\n}\n\n\
         # A file of `fpath` is the function's body; a script that is read registers it.\n\
         if [[ $funcstack[1] == _workfile ]]; then _workfile \"$@\"; else compdef _workfile workfile; fi\n",
    );
    out
}

fn branch(out: &mut String, command: &Command) {
    let open = if command.words.len() == 1 { " '*" } else { "'" };
    let length = command.words.len();
    let _ = writeln!(
        out,
        "    '{}{open})\n        shift {length} words; ((CURRENT -= {length}))\n        _arguments -s -S \\",
        command.words.join(" ")
    );
    for flag in flags(command) {
        let many = if flag.takes == Takes::Many { "*" } else { "" };
        let help = plain(flag.help);
        let spec = match flag.takes {
            Takes::Nothing => format!("--{}[{help}]", flag.name),
            Takes::One | Takes::Many => {
                format!("{many}--{}=[{help}]:{}:{}", flag.name, plain(flag.value), action(flag.offers))
            }
        };
        let _ = writeln!(out, "            {} \\", quoted(&spec));
    }
    for (nth, (name, offers)) in operands(command).into_iter().enumerate() {
        let spec = format!("{}:{}:{}", nth + 1, plain(name), action(offers));
        let _ = writeln!(out, "            {} \\", quoted(&spec));
    }
    out.truncate(out.trim_end_matches([' ', '\\', '\n']).len());
    out.push_str("\n        ;;\n");
}

/// What completes a value.
fn action(offers: Offers) -> String {
    match offers {
        Offers::Nothing => " ".to_owned(),
        Offers::Files => "_files".to_owned(),
        Offers::Paths => "_sequence _files".to_owned(),
        Offers::Folders => "_files -/".to_owned(),
        Offers::Card => "_workfile_cards".to_owned(),
        Offers::Cards => "_sequence _workfile_card_ids".to_owned(),
        Offers::Word(words) => format!("({})", words.join(" ")),
        Offers::Words(words) => format!("_values -s , value {}", words.join(" ")),
    }
}

/// A text inside a specification, where brackets and colons mean something. A backtick would begin a command.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| *c != '`') {
        if matches!(c, '\\' | '[' | ']' | ':') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
