//! The generated Markdown files: what they are called, what they say.
//!
//! A file with broken frontmatter is loaded without any of it, so every value is written as a JSON string, which YAML
//! reads as it is meant.

use crate::surface::managed::{self, Block, Style, without_markers};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::path::Path;

/// One generated file.
pub(super) struct Text {
    /// Where it lies below `.claude/` of a repository and below the root of the plugin.
    pub(super) path: &'static str,
    /// The kind that its marker carries.
    pub(super) kind: &'static str,
    front: &'static [(&'static str, Front)],
    body: &'static str,
    ending: Ending,
}

/// A frontmatter value.
enum Front {
    Text(&'static str),
    List(&'static [&'static str]),
}

/// What stands below the fixed text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    None,
    /// The repository's protocol.
    Protocol,
}

/// Every generated text. `allowed-tools` names the exact subcommand: a file in somebody else's repository grants no more
/// than it needs. Arguments have names, because positions count from 0 and a missing one stays as literal text.
pub(super) const TEXTS: [Text; 5] = [
    Text {
        path: "commands/next.md",
        kind: "claude-command-next",
        front: &[
            ("description", Front::Text("Candidates for the next piece of work, each with its reason")),
            ("allowed-tools", Front::Text("Bash(workfile next *)")),
        ],
        body: "\
Run `workfile next --limit 10 --json` and show each candidate with its id, title, priority, area and the
reason it qualifies.

Nothing is started here. Work begins with a claim.",
        ending: Ending::None,
    },
    Text {
        path: "commands/claim.md",
        kind: "claude-command-claim",
        front: &[
            ("description", Front::Text("Take a card and declare the paths it will change")),
            ("argument-hint", Front::Text("<card> <path,path>")),
            ("arguments", Front::List(&["card", "scope"])),
            ("allowed-tools", Front::Text("Bash(workfile card claim *)")),
        ],
        body: "\
Run `workfile card claim $card --scope $scope`.

The scope is the paths that this work will change, separated by commas without spaces. When none is given
above, read the card and name the paths first. Every path too many stops another agent, every path missing
is unprotected.

A refusal because another actor holds the card is the answer: pass on who holds it and since when, and
leave `--force` to the user.",
        ending: Ending::None,
    },
    Text {
        path: "commands/done.md",
        kind: "claude-command-done",
        front: &[
            ("description", Front::Text("Close a card: proof first, then records, then release")),
            ("argument-hint", Front::Text("<card>")),
            ("arguments", Front::List(&["card"])),
            (
                "allowed-tools",
                Front::Text(
                    "Bash(workfile card show *), Bash(workfile doctor *), Bash(workfile changelog add *), \
                     Bash(workfile memory add *), Bash(workfile card transition *), Bash(workfile card release *)",
                ),
            ),
        ],
        body: "\
Card: $card

1. Verify: run what proves the acceptance criteria, and `workfile doctor --severity error`.
2. Record: a changelog fragment for a change that users see (`workfile changelog add`), and a memory
   record for anything that later work must know (`workfile memory add`).
3. Close: `workfile card transition <card> review` while proof is outstanding; `done` only with evidence
   seen in this session.
4. Release the claim when work stops: `workfile card release <card>`.",
        ending: Ending::None,
    },
    Text {
        path: "commands/card-context.md",
        kind: "claude-command-card-context",
        front: &[
            ("description", Front::Text("One card together with what bears on it, within a limit")),
            ("argument-hint", Front::Text("<card>")),
            ("arguments", Front::List(&["card"])),
            ("allowed-tools", Front::Text("Bash(workfile agents context *)")),
        ],
        body: "\
!`workfile agents context --limit 20 --card $card`

The output above is one card with its neighbours and the rules, incidents and notes that bear on it, cut
to a limit. `workfile search` reaches everything else.",
        ending: Ending::None,
    },
    Text {
        path: "skills/workfile/SKILL.md",
        kind: "claude-skill",
        front: &[
            ("name", Front::Text("workfile")),
            (
                "description",
                Front::Text(
                    "How this repository keeps work, documents, history and memory under .project/, and how they \
                     change. For anything that reads or writes there.",
                ),
            ),
        ],
        body: "\
Work, documents, history and memory of this repository are Markdown records under `.project/`. The
`workfile` CLI and its MCP tools change them: locked, checked against the revision, validated. An edit
with a file tool goes around all of that, and the user is asked about it.

- In flight: `workfile card list --status doing`
- One card with what belongs to it: `workfile agents context --card <id>`
- Start: `workfile next`, then `workfile card claim <id> --scope <paths>`",
        ending: Ending::Protocol,
    },
];

/// The file that the skill quotes.
const PROTOCOL: &str = ".project/agents/protocol.md";
/// What stands there without one.
const POINTER: &str = "The protocol is in .project/agents/protocol.md.";
/// A longer protocol is pointed to, not quoted.
const LONGEST_PROTOCOL: usize = 64 * 1024;

impl Text {
    /// Where it lies in a repository.
    pub(super) fn installed_path(&self) -> String {
        format!(".claude/{}", self.path)
    }

    /// The managed block of a repository.
    pub(super) fn block(&self, protocol: Option<&str>) -> Block {
        Block::new(self.kind, Style::Frontmatter, &self.render(protocol))
    }

    /// The text without a marker. The protocol stands in the texts that quote it; without one they point to it.
    pub(super) fn render(&self, protocol: Option<&str>) -> String {
        let mut out = frontmatter(self.front);
        out.push('\n');
        out.push_str(self.body);
        if self.ending == Ending::Protocol {
            out.push_str("\n\n---\n\n");
            out.push_str(protocol.unwrap_or(POINTER));
        }
        out.push('\n');
        out
    }
}

fn frontmatter(front: &[(&str, Front)]) -> String {
    let quoted = |text: &str| Json::from(text).to_string();
    let mut out = String::from("---\n");
    for (key, value) in front {
        let value = match value {
            Front::Text(text) => quoted(text),
            Front::List(texts) => {
                format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
            }
        };
        let _ = writeln!(out, "{key}: {value}");
    }
    out.push_str("---\n");
    out
}

/// The repository's protocol as it is quoted, without marker lines; `None` when there is none that can be.
pub(super) fn protocol(root: &Path) -> Option<String> {
    let file = managed::read(root, PROTOCOL).ok()?;
    let text = file.text().filter(|text| text.len() <= LONGEST_PROTOCOL)?;
    let plain = without_markers(text);
    let plain = crate::path::trim(&plain);
    (!plain.is_empty()).then(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads frontmatter back: the part of YAML that JSON is.
    fn parsed(text: &str) -> Vec<(String, Json)> {
        let (front, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        let line = |line: &str| {
            let (key, value) = line.split_once(": ").unwrap();
            (key.to_owned(), serde_json::from_str(value).unwrap())
        };
        front.lines().filter(|line| !line.starts_with('#')).map(line).collect()
    }

    fn meant(front: &[(&str, Front)]) -> Vec<(String, Json)> {
        let value = |value: &Front| match value {
            Front::Text(text) => Json::from(*text),
            Front::List(texts) => texts.iter().copied().map(Json::from).collect(),
        };
        front.iter().map(|(key, front)| ((*key).to_owned(), value(front))).collect()
    }

    #[test]
    fn frontmatter_is_read_back_as_it_was_meant() {
        for text in &TEXTS {
            assert_eq!(parsed(&text.render(None)), meant(text.front), "{}", text.path);
            assert_eq!(parsed(&text.block(None).render()), meant(text.front), "{}", text.path);
        }
        let awkward: &[(&str, Front)] = &[
            ("description", Front::Text("say \"hello\": [T-0042] # not a comment \\ 'x' \u{e9}\n---")),
            ("arguments", Front::List(&["a, b", "\"c\"", "- d"])),
        ];
        assert_eq!(parsed(&frontmatter(awkward)), meant(awkward));
    }

    #[test]
    fn the_protocol_is_quoted_without_its_markers() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(protocol(root.path()), None);
        let path = root.path().join(PROTOCOL);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let own = Block::new("canonical-agent-protocol", Style::Html, "# Protocol\n\nClaim first.").render();
        std::fs::write(&path, format!("{own}\n\nOurs too.\n")).unwrap();
        let quoted = protocol(root.path()).unwrap();
        assert_eq!(quoted, "# Protocol\n\nClaim first.\n\nOurs too.");
        let skill = TEXTS.iter().find(|text| text.ending == Ending::Protocol).unwrap();
        let text = skill.block(Some(&quoted)).render();
        assert!(text.ends_with("\n\n---\n\n# Protocol\n\nClaim first.\n\nOurs too."));
        assert_eq!(text.matches("workfile kind=").count(), 1);
        assert!(skill.render(None).ends_with("The protocol is in .project/agents/protocol.md.\n"));
        for unquotable in [vec![b'x'; LONGEST_PROTOCOL + 1], b"caf\xe9".to_vec(), b" \n".to_vec()] {
            std::fs::write(&path, unquotable).unwrap();
            assert_eq!(protocol(root.path()), None);
        }
    }

    #[test]
    fn permissions_name_one_subcommand_each() {
        for text in &TEXTS {
            for (key, value) in text.front {
                let Front::Text(value) = value else { continue };
                if *key == "allowed-tools" {
                    for rule in value.split(", ") {
                        let words =
                            rule.strip_prefix("Bash(workfile ").and_then(|rest| rest.strip_suffix(" *)"));
                        let words: Vec<&str> = words.unwrap_or_default().split(' ').collect();
                        assert!((1..=2).contains(&words.len()) && !words.contains(&""), "{rule}");
                        assert_ne!(words, ["card", "verify"], "it runs commands that a card declares");
                    }
                }
            }
        }
    }
}
