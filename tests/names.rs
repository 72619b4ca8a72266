//! Every name that a text gives out exists: tools are in the registry, commands in the specification.

use crate::payload::pre_edit;
use crate::world::World;
use std::collections::BTreeSet;
use std::path::Path;

const TOOLS: &str = include_str!("golden/mcp-tools.txt");
const COMMANDS: &str = include_str!("golden/commands.txt");

/// One record or state file of each kind, and the beginning of the tools that may be named for it.
const KINDS: &[(&str, &str)] = &[
    (".project/cards/T-0001-card.md", "project_card_"),
    (".project/docs/reference/DOC-0001-x.md", "project_doc_"),
    (".project/memory/learnings/LRN-0001-x.md", "project_memory_"),
    (".project/changelog/unreleased/CHG-0001-x.md", "project_changelog_"),
    (".project/agents/protocol.md", ""),
    (".project/generated/claude-code.json", ""),
    (".project/.cache/activity/board.json", ""),
    (".project/VERSION", ""),
    (".project/notes.md", ""),
];

#[test]
fn hook_texts_name_tools_of_their_own_kind_and_commands_that_exist() {
    let world = World::new();
    for (path, family) in KINDS {
        let ask = world.hook(pre_edit(path)).asks_something();
        assert_eq!(ask.context, format!("Workfile: {}", ask.reason));
        for tool in tool_names(&ask.reason) {
            assert!(TOOLS.lines().any(|known| known == tool), "{path}: there is no tool {tool}");
            assert!(!family.is_empty() && tool.starts_with(family), "{path}: {tool} is for another kind");
        }
        assert_eq!(tool_names(&ask.reason).is_empty(), family.is_empty(), "{path}: {}", ask.reason);
        assert_eq!(unknown_commands(&ask.reason), NONE, "{path}");
    }
}

#[test]
fn the_context_at_the_start_names_commands_that_exist() {
    let nobody = World::new();
    let claimed = World::new().card("T-0001", |c| c.doing().claimed_by("ben").scope("src"));
    let many = (1..=30).fold(World::new(), |world, number| {
        world.card(&format!("T-{number:04}"), |c| c.doing().claimed_by("ben").scope("src"))
    });
    for world in [nobody, claimed, many] {
        let context = world.hook(crate::payload::start("startup")).tells(&["`workfile card claim"]);
        assert_eq!(unknown_commands(&context), NONE, "{context}");
        assert!(tool_names(&context).is_empty(), "{context}");
    }
}

#[test]
fn installed_files_name_commands_and_tools_that_exist() {
    let world = World::new();
    world.run(["claude", "install", "--json"]).json();
    let files = crate::compare::tree(&world.root.join(".claude"));
    for path in [
        "commands/card-context.md",
        "commands/claim.md",
        "commands/done.md",
        "commands/next.md",
        "skills/workfile/SKILL.md",
        "settings.json",
    ] {
        assert!(files.contains_key(path), "{path} is not installed");
    }
    for (path, entry) in files {
        if let crate::compare::Entry::File(bytes) = entry {
            assert_text(&path, &String::from_utf8(bytes).unwrap());
        }
    }
}

/// Every command line that a generated text shows is one of this program's, down to its flags.
#[test]
fn generated_texts_show_commands_and_flags_that_are_built() {
    let world = World::new();
    world.run(["agents", "sync", "--targets", "agents-md,claude"]).text();
    world.run(["claude", "install", "--json"]).json();
    let files = crate::compare::tree(&world.root);
    let is_generated = |path: &str| {
        let is_text = Path::new(path).extension().is_some_and(|end| end == "md");
        is_text && !path.starts_with(".project/cards")
    };
    let texts =
        files.into_iter().filter(|(path, _)| is_generated(path)).filter_map(|(path, entry)| match entry {
            crate::compare::Entry::File(bytes) => Some((path, String::from_utf8(bytes).unwrap())),
            _ => None,
        });
    let mut shown = 0;
    for (path, text) in texts {
        assert_text(&path, &text);
        for line in command_lines(&text) {
            let mut words = line.split_whitespace().skip(1);
            let named: Vec<&str> = words.by_ref().take_while(|word| is_command_word(word)).take(2).collect();
            let is_built = |words: &[&str]| workfile::cli::commands().any(|command| command.words == words);
            let command = if is_built(&named) { &named[..] } else { &named[..1.min(named.len())] };
            assert!(is_built(command), "{path}: `{line}` is not built");
            let help = world.run(crate::process::call([]).words(command).words(&["--help"])).text();
            for flag in line.split([' ', '\n']).filter(|word| word.starts_with("--")) {
                let flag = flag.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
                let has =
                    help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == flag);
                assert!(has, "{path}: `{line}`: there is no {flag}");
            }
            shown += 1;
        }
    }
    assert!(shown > 30, "{shown}");
}

/// What stands between back quotes or in a permission and begins with the program's name and a command.
fn command_lines(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2).map(str::to_owned);
    let allowed = text.split("Bash(").skip(1).filter_map(|rest| Some(rest.split_once(" *)")?.0.to_owned()));
    let is_line = |line: &String| line.starts_with("workfile ");
    quoted.chain(allowed).filter(is_line).collect()
}

#[test]
fn remedies_are_commands_of_this_program() {
    let world = World::bare();
    let remedies: BTreeSet<String> = crate::doors::sources()
        .iter()
        .flat_map(|(_, source)| source.split("remedy(").skip(1))
        .filter_map(|call| call.trim_start_matches("format!(").strip_prefix("\"workfile "))
        .map(|text| {
            text.split([' ', '"'])
                .take_while(|word| is_command_word(word))
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .filter(|command| !command.is_empty())
        .collect();
    assert!(remedies.len() > 3, "{remedies:?}");
    for command in remedies {
        let words: Vec<_> = command.split(' ').collect();
        let run = world.run(crate::process::call([]).words(&words).words(&["--help"]));
        assert!(run.text().contains("workfile "), "{command}");
    }
}

#[test]
fn texts_in_the_tree_name_commands_and_tools_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["hooks", "docs", ".project/agents"] {
        if !root.join(folder).is_dir() {
            continue;
        }
        for (path, entry) in crate::compare::tree(&root.join(folder)) {
            if let crate::compare::Entry::File(bytes) = entry {
                assert_text(&format!("{folder}/{path}"), &String::from_utf8(bytes).unwrap());
            }
        }
    }
    for file in ["README.md", "AGENTS.md"] {
        if let Ok(text) = std::fs::read_to_string(root.join(file)) {
            assert_text(file, &text);
        }
    }
}

#[test]
fn every_code_is_raised_somewhere() {
    let sources = crate::doors::sources();
    let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
    let raised: BTreeSet<&str> = sources
        .iter()
        .flat_map(|(_, source)| source.split("Code::").skip(1))
        .map(|rest| &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())])
        .collect();
    let idle = workfile::failure::Code::ALL.iter().filter(|code| !raised.contains(code.name));
    assert_eq!(idle.map(|code| code.name).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn sources_name_commands_and_tools_that_exist() {
    for (path, source) in crate::doors::sources() {
        assert_text(&path, &source);
    }
}

#[track_caller]
fn assert_text(path: &str, text: &str) {
    assert_eq!(unknown_commands(text), NONE, "{path} names commands that do not exist");
    let unknown: Vec<_> = tool_names(text).into_iter().filter(|tool| !is_tool(tool)).collect();
    assert_eq!(unknown, NONE, "{path} names tools that do not exist");
}

const NONE: [String; 0] = [];

/// A tool, or the beginning of some: a text may speak of the family.
fn is_tool(name: &str) -> bool {
    TOOLS.lines().any(|known| known == name || name.ends_with('_') && known.starts_with(name))
}

fn tool_names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with("project_") && word.len() > "project_".len())
        .map(str::to_owned)
        .collect()
}

/// The commands that a text shows and the specification does not have.
///
/// A command is `workfile` and words, in back quotes, in brackets, in a remedy of the sources, behind `$`, or at the
/// start of a line of code; in a sentence the word is only the program's name.
fn unknown_commands(text: &str) -> Vec<String> {
    let mut unknown = Vec::new();
    for (at, _) in text.match_indices("workfile ") {
        let before = &text[..at];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let remedy = before.ends_with("remedy(\"") || before.ends_with("remedy(format!(\"");
        let shown = before.ends_with(['`', '(']) || remedy || line.trim() == "$";
        let code = line.len() >= 4 && line.trim().is_empty() || line.is_empty() && in_fence(before);
        if !shown && !code {
            continue;
        }
        let words: Vec<_> =
            text[at..].split(|c: char| c.is_whitespace() || "`\")\\".contains(c)).take(3).collect();
        let named: Vec<_> = words[1..].iter().copied().take_while(|word| is_command_word(word)).collect();
        let known = |command: &str| COMMANDS.lines().any(|known| known == command);
        let family =
            |word: &str| COMMANDS.lines().any(|known| known.split(' ').next() == Some(word) && known != word);
        let found = match named[..] {
            [] => true,
            [one] => known(one) || family(one) && words.get(2).is_some_and(|word| !is_command_word(word)),
            [one, two, ..] => known(&format!("{one} {two}")) || known(one) && !family(one),
        };
        if !found {
            unknown.push(format!("workfile {}", named.join(" ")));
        }
    }
    unknown
}

fn is_command_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Whether the text stops inside a fenced block.
fn in_fence(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

mod tests {
    use super::*;

    #[test]
    fn commands_are_found_where_they_are_shown() {
        let text = "Run `workfile card clam T-1` or `workfile frobnicate`.\nThe workfile program is fine.\n\
            ```\nworkfile card list --json\n$ workfile doctr\n```\nworkfile is a word here.\n    workfile nxt\n\
            Bash(workfile card shw *) .remedy(\"workfile nonesuch\") `workfile COMMAND` `workfile` and `workfile card`";
        let found = unknown_commands(text);
        assert_eq!(
            found,
            [
                "workfile card clam",
                "workfile frobnicate",
                "workfile doctr",
                "workfile nxt",
                "workfile card shw",
                "workfile nonesuch"
            ]
        );
    }

    #[test]
    fn tools_are_found() {
        let found: Vec<_> =
            tool_names("project_card_patch, `project_nope` or project_").into_iter().collect();
        assert_eq!(found, ["project_card_patch", "project_nope"]);
        assert!(is_tool("project_card_patch") && is_tool("project_card_") && !is_tool("project_nope"));
    }

    #[test]
    fn the_lists_are_sorted_and_whole() {
        assert_eq!(TOOLS.lines().count(), 32);
        assert!(TOOLS.lines().is_sorted() && COMMANDS.lines().is_sorted());
    }
}
