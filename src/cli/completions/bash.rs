//! The script for bash: one branch a command, over a few functions that every branch uses.

use super::{families, firsts, flags, listed, operands};
use crate::cli::{Command, Offers, Takes};
use std::fmt::Write as _;

/// The script.
pub(super) fn script() -> String {
    let mut out = include_str!("prelude.bash").to_owned();
    out.push_str("# Second words.\n_workfile_second() {\n    case $1 in\n");
    for (family, seconds) in families() {
        let words: Vec<&str> = seconds.iter().map(|(word, _)| *word).collect();
        let _ = writeln!(out, "    {family}) _workfile_word {} ;;", words.join(" "));
    }
    let firsts: Vec<&str> = firsts().iter().map(|(word, _)| *word).collect();
    let firsts = firsts.join(" ");
    let _ = write!(
        out,
        "    esac\n}}\n\n_workfile() {{\n    \
         local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} nth first=${{COMP_WORDS[1]}} second=''\n    \
         COMPREPLY=()\n    \
         # `--flag=value` arrives as three words.\n    \
         if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=${{COMP_WORDS[COMP_CWORD - 2]}}; fi\n    \
         if ((COMP_CWORD == 1)); then _workfile_word {firsts}; return; fi\n    \
         if [[ $first == help ]]; then\n        \
         case $COMP_CWORD in\n        \
         2) _workfile_word {firsts} ;;\n        \
         3) _workfile_second \"$prev\" ;;\n        \
         esac\n        \
         return\n    \
         fi\n    \
         if ((COMP_CWORD > 2)); then second=${{COMP_WORDS[2]}}; fi\n    \
         case \"$first $second\" in\n"
    );
    // A family that is a command as well comes behind its own commands.
    let (one, more): (Vec<_>, Vec<_>) = listed().partition(|command| command.words.len() == 1);
    for command in more.into_iter().chain(one) {
        branch(&mut out, command);
    }
    out.push_str(
        "    *) if ((COMP_CWORD == 2)); then _workfile_second \"$first\"; fi ;;\n    esac\n}\n\ncomplete -F _workfile workfile\n",
    );
    out
}

fn branch(out: &mut String, command: &Command) {
    let open = if command.words.len() == 1 { " '*" } else { "'" };
    let _ = writeln!(out, "    '{}{open})\n        case $prev in", command.words.join(" "));
    let mut all = Vec::new();
    let mut valued = Vec::new();
    for flag in flags(command) {
        all.push(format!("--{}", flag.name));
        if flag.takes != Takes::Nothing {
            valued.push(format!("--{}", flag.name));
            let _ = writeln!(out, "        --{}) {} ;;", flag.name, call(flag.offers));
        }
    }
    let _ = write!(
        out,
        "        *)\n            _workfile_count {} '{}'\n            case $nth in\n",
        command.words.len() + 1,
        valued.join(" ")
    );
    for (nth, (_, offers)) in operands(command).into_iter().enumerate() {
        let _ = writeln!(out, "            {nth}) {} ;;", call(offers));
    }
    let _ = writeln!(
        out,
        "            *) _workfile_word {} ;;\n            esac\n            ;;\n        esac\n        ;;",
        all.join(" ")
    );
}

/// What completes a value.
fn call(offers: Offers) -> String {
    match offers {
        Offers::Nothing => ":".to_owned(),
        Offers::Files => "_workfile_files".to_owned(),
        Offers::Paths => "_workfile_paths".to_owned(),
        Offers::Folders => "_workfile_folders".to_owned(),
        Offers::Card => "_workfile_cards word".to_owned(),
        Offers::Cards => "_workfile_cards words".to_owned(),
        Offers::Word(words) => format!("_workfile_word {}", words.join(" ")),
        Offers::Words(words) => format!("_workfile_words {}", words.join(" ")),
    }
}
