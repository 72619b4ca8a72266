//! What agents are told. Short: it is read at the start of every piece of work.

use crate::path::one_line;
use crate::workspace::{SCHEMA_VERSION, Workspace};

/// A value of the configuration as it stands between back quotes: on one line, so that it is no marker and no heading.
fn inline(value: &str) -> String {
    one_line(value).replace('`', "'")
}

/// The protocol of a workspace.
pub(super) fn protocol(workspace: &Workspace) -> String {
    let cards = &workspace.config.cards;
    let areas: Vec<String> = cards.areas.iter().map(|area| inline(area)).collect();
    let (areas, depth, lease) = (areas.join("`, `"), cards.max_hierarchy_depth, cards.claim_lease_hours);
    format!(
        "\
# How work is kept in this repository

Work, documents, history and memory are Markdown records under `.project/` (schema {SCHEMA_VERSION}). The `workfile` commands
and the `project_*` tools of its MCP server change them: locked, checked against the revision, validated. Never edit a
record with a file tool; read it with one as you like.

## Before the first edit

1. `workfile next` lists what can be started and why; `workfile card show ID` has a card whole.
2. `workfile card claim ID --scope PATHS` takes it. The scope is every path that the work will change, from the root,
   separated by commas; a folder covers what is below it. Every path too many stops somebody else, every path missing is
   unprotected. Claim again when the work grows.
3. `workfile agents context --card ID` has what bears on it: decisions, conventions, incidents, what was learned.

## While working

- An edit inside somebody else's scope is asked about. Do something else, or leave a note on their card
  (`workfile card note ID --text TEXT`); taking a claim over is the user's decision.
- What comes up on the way becomes a card of its own: `workfile card create --title TEXT --origin ID --raised derived`.
- `--expected-revision` keeps two writers from losing each other's change. After a conflict read again.

## Before the end

1. Prove the acceptance criteria; tick what is proven (`workfile card ac ID --check N`).
2. Record what users will notice (`workfile changelog add --title TEXT`) and what later work has to know
   (`workfile memory add learnings --title TEXT`, or `decisions`, `incidents`, `conventions`, `context`).
3. `workfile card transition ID review` while proof is outstanding, `done` with evidence seen in this piece of work.
4. `workfile card release ID` when work stops before that.

## The words

- Areas: `{areas}`. All vocabularies: `workfile schema`.
- Statuses: `backlog` known, `next` chosen, `doing` claimed and being worked on, `review` built and not verified where it
  runs, `blocked`, `deferred`, `done` verified where it runs, `discarded`.
- A card may have {depth} cards above it. `depends` closes first; `origin` is what the work was found in.
- A claim goes stale {lease} hours after it was made.
- `workfile doctor` says what is wrong with the records.
"
    )
}

/// Workflows: name, kind of the marker, text.
pub(super) const WORKFLOWS: [(&str, &str, &str); 4] = [
    (
        "start-work",
        "workflow-start-work",
        "\
# Start work

1. `workfile next --limit 10`: what can be started, the best first, each with its reason.
2. `workfile agents context --card ID`: the card and what bears on it. Read it before deciding on a scope.
3. `workfile card claim ID --scope PATHS`. A refusal because somebody holds the card is an answer: take another one.
4. Warnings about an overlap name the card and its holder. Narrow the scope, or agree on an order with a note on their card.
",
    ),
    (
        "finish-work",
        "workflow-finish-work",
        "\
# Finish work

1. `workfile card ac ID` lists the criteria. Prove each, then `--check N`. Criteria bound to a command are ticked by
   `workfile card verify ID` alone.
2. `workfile doctor --severity error` is clean.
3. What users notice: `workfile changelog add --title TEXT --cards ID`. What later work needs: `workfile memory add`.
4. `workfile card transition ID done`, with `--method ci --run URL` or `--method manual --evidence TEXT` where the area asks
   for it; `review` while proof is outstanding. Never force a gate that the user has not waived.
",
    ),
    (
        "discovered-work",
        "workflow-discovered-work",
        "\
# Work found on the way

1. Look whether it is known: `workfile search TEXT --kind card`.
2. `workfile card create --title TEXT --origin ID --raised derived`, with `--raised reported` when a person asked for it.
3. Finish what is claimed first. Only what blocks it is done at once, and then `depends` says so.
",
    ),
    (
        "record-knowledge",
        "workflow-record-knowledge",
        "\
# Record knowledge

- Something that surprised: `workfile memory add learnings --title TEXT --confidence low|medium|high`.
- A choice between alternatives: `workfile memory add decisions --title TEXT`, with the reason and what was not chosen.
- Something that broke: `workfile memory add incidents --title TEXT --severity LEVEL --started-at TIME`.
- A rule that everybody follows: `workfile memory add conventions --title TEXT`.
- Something that is true for a while: `workfile memory add context --title TEXT --expires DATE`.

Look first whether it is there (`workfile search TEXT --kind memory`). One record says one thing; `--scope` says where it holds.
A learning that became a rule or a document: `workfile memory graduate ID --to ID`.
",
    ),
];

/// What an agent's own instruction file says.
pub(super) fn adapter(protocol: &str) -> String {
    let protocol = inline(protocol);
    format!(
        "\
## Work, documents and memory of this repository

They are records under `.project/`, changed by `workfile` commands and its MCP tools, never by an edit. Read `{protocol}` before
the first edit of a piece of work: claim a card with the paths it will change, work inside them, record, release.
"
    )
}
