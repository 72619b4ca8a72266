//! Prompts: three pieces of work that a person starts by name, each with what has to be known for it.

use super::era::Era;
use super::host::Host;
use super::message::{RpcError, wire};
use super::refusal;
use crate::clock;
use crate::failure::{Code, Failure};
use crate::path::trim;
use crate::query::{Shower, context};
use serde_json::{Map, Value as Json, json};

/// Records in a bundle.
const LIMIT: usize = 20;

/// One prompt.
struct Prompt {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The argument that it needs, and what that is.
    needs: (&'static str, &'static str),
    /// The argument that it takes besides.
    takes: (&'static str, &'static str),
    /// What the text says before and behind the bundle.
    text: fn(&str, Option<&str>) -> (String, String),
    /// Whether the needed argument is a card, whose bundle belongs into the text.
    bundled: Bundled,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bundled {
    Card,
    Nothing,
}

/// By name.
const PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "finish-work",
        title: "Finish work on a card",
        about: "What has to be true before work on a card ends, with all that is known about the card",
        needs: ("cardId", "The card that is finished, e.g. T-0007"),
        takes: ("outcome", "What came out of it, in your words"),
        text: finish,
        bundled: Bundled::Card,
    },
    Prompt {
        name: "record-knowledge",
        title: "Record what was learned",
        about: "Puts an observation into the one collection of memory where it belongs, unless it is there already",
        needs: ("observation", "What was observed, in your words"),
        takes: ("sourceId", "The record that it was observed on"),
        text: record,
        bundled: Bundled::Nothing,
    },
    Prompt {
        name: "start-work",
        title: "Start work on a card",
        about: "How work on a card begins, with all that is known about the card",
        needs: ("cardId", "The card to work on, e.g. T-0007"),
        takes: ("actor", "Who works on it; without it the agent's own session"),
        text: start,
        bundled: Bundled::Card,
    },
];

/// Their names.
pub(super) fn names() -> Vec<&'static str> {
    PROMPTS.iter().map(|prompt| prompt.name).collect()
}

/// `prompts/list`.
pub(super) fn list() -> Vec<Json> {
    let argument = |(name, about): (&str, &str), required: bool| json!({"name": name, "description": about, "required": required});
    PROMPTS
        .iter()
        .map(|prompt| {
            json!({
                "name": prompt.name,
                "title": prompt.title,
                "description": prompt.about,
                "arguments": [argument(prompt.needs, true), argument(prompt.takes, false)],
            })
        })
        .collect()
}

/// `prompts/get`: the text is at most as long as the result of a call may be, and what is cut is the bundle.
pub(super) fn get(host: &Host, era: Era, params: &Map<String, Json>) -> Result<Json, RpcError> {
    let Some(name) = params.get("name").and_then(Json::as_str) else { return Err(refusal::required("name")) };
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
        let text =
            format!("there is no prompt {}; there are {}", crate::path::one_line(name), names().join(", "));
        refusal::params(&Failure::new(Code::MCP_PROMPT_NOT_FOUND, text))
    })?;
    let nothing = Map::new();
    let arguments = match params.get("arguments") {
        None => &nothing,
        Some(Json::Object(arguments)) => arguments,
        Some(_) => return Err(refusal::argument("arguments", "is not an object")),
    };
    let text = |name: &str| arguments.get(name).and_then(Json::as_str).filter(|text| !trim(text).is_empty());
    let needed = text(prompt.needs.0).ok_or_else(|| refusal::required(prompt.needs.0))?;
    if arguments.get(prompt.takes.0).is_some_and(|value| !value.is_string() && !value.is_null()) {
        return Err(refusal::argument(prompt.takes.0, "is not a string"));
    }
    let (before, behind) = (prompt.text)(needed, text(prompt.takes.0));
    let bundle = match prompt.bundled {
        Bundled::Card => bundle(host, trim(needed))?,
        Bundled::Nothing => String::new(),
    };
    let message = |bundle: &str| {
        let text = format!("{before}{bundle}{behind}");
        era.dress(Map::from_iter([
            ("description".to_owned(), prompt.about.into()),
            ("messages".to_owned(), json!([{"role": "user", "content": {"type": "text", "text": text}}])),
        ]))
    };
    Ok(fitted(&bundle, |bundle| wire(&message(bundle)).len() <= host.result_bytes, message))
}

/// The message with the longest beginning of the bundle that fits; the instructions stay whole.
fn fitted(bundle: &str, fits: impl Fn(&str) -> bool, message: impl Fn(&str) -> Json) -> Json {
    if fits(bundle) {
        return message(bundle);
    }
    let ends: Vec<usize> = bundle.char_indices().map(|(at, _)| at).collect();
    let cut = |characters: usize| format!("{}…", &bundle[..ends.get(characters).copied().unwrap_or(0)]);
    let (mut fitting, mut too_many) = (0, ends.len());
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        if fits(&cut(middle)) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    message(&cut(fitting))
}

/// All that matters to a card, as Markdown.
fn bundle(host: &Host, card: &str) -> Result<String, RpcError> {
    let request =
        context::Request { card: Some(card.to_owned()), limit: LIMIT, ceiling: None, now: clock::now() };
    let answer = host.workspace().and_then(|workspace| {
        let index = host.index(&workspace)?;
        context::answer(&Shower::new(&workspace, &index)?, &request)
    });
    let mut answer = answer.map_err(|failure| match failure.code {
        Code::AGENT_CONTEXT_CARD_NOT_FOUND => refusal::params(&failure),
        _ => refusal::defect(host, &failure),
    })?;
    match answer.remove("markdown") {
        Some(Json::String(markdown)) => Ok(markdown),
        _ => Ok(String::new()),
    }
}

fn start(card: &str, actor: Option<&str>) -> (String, String) {
    let who = match actor {
        Some(actor) => format!("as the actor `{}`", trim(actor)),
        None => "as `current-agent-session`, which means without an actor: the server knows yours".to_owned(),
    };
    let before = format!(
        "Work on the card {}.\n\n\
         1. Read what is known about it, below.\n\
         2. Before you change anything in its scope, claim it with `project_card_claim` {who}; the scope of the claim are the \
         paths that you will change. If somebody holds it, take another card.\n\
         3. What you discover and do not do becomes a card of its own (`project_card_create`, with this card as `origin`); \
         what should change how somebody works here later becomes memory (`project_memory_add`).\n\
         4. Run `project_doctor` before you stop, and put right what it says about records you touched.\n\
         5. The card stays in review until it ran for real; only then it is done.\n\n",
        trim(card)
    );
    (before, String::new())
}

fn finish(card: &str, outcome: Option<&str>) -> (String, String) {
    let card = trim(card);
    let before = format!("Finish the work on the card {card}. This is what is known about it:\n\n");
    let outcome = outcome.map_or("(say in a sentence or two what came out of it)", trim);
    let behind = format!(
        "\n\n---\n\n**Outcome**\n\n{outcome}\n\n\
         Go through this list, and say of each point what you did or why it does not apply:\n\n\
         1. Acceptance criteria: each is met and ticked, or says what is missing (`project_card_write`).\n\
         2. Tests: they ran and passed; a failure is reported, not hidden.\n\
         3. Documents: what the change made untrue is corrected (`project_doc_write`).\n\
         4. Changelog: a change that a reader notices has a fragment with this card in `cards` (`project_changelog_add`).\n\
         5. Memory: a decision or a learning is written down once (`project_memory_add`).\n\
         6. What is left over has a card of its own with {card} as `origin` (`project_card_create`).\n\
         7. `project_doctor` finds nothing wrong with the records you touched.\n\
         8. Then move the card with `project_card_transition`: to review, or to done when it is proven where it runs.\n"
    );
    (before, behind)
}

fn record(observation: &str, source: Option<&str>) -> (String, String) {
    let source = match source {
        Some(source) => format!("Relate it to {}, where it was observed (`related`).", trim(source)),
        None => "Relate it to the record where it was observed, if there is one (`related`).".to_owned(),
    };
    let before = format!(
        "Write down what follows in the memory of this project, if it is not there yet.\n\n{observation}\n\n\
         1. Look for it with `project_search`, kind memory. If a record says it already, make that one better \
         (`project_memory_patch`) and add none.\n\
         2. Choose exactly one collection:\n\
         \u{20}  - learnings: something found out that changes how one works here;\n\
         \u{20}  - decisions: something chosen among alternatives, with the reasons;\n\
         \u{20}  - incidents: something that went wrong, with what keeps it from happening again;\n\
         \u{20}  - conventions: a rule that is in force now;\n\
         \u{20}  - context: something that is true for a while, with the day it expires.\n\
         3. Write it with `project_memory_add`: the title is the statement itself.\n\
         4. {source}\n\
         5. No passwords, keys or personal data, not even in part.\n"
    );
    (before, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_the_bundle() {
        let bundle = "é".repeat(100);
        let message = |bundle: &str| json!(format!("before {bundle} behind"));
        let fits = |most: usize| move |bundle: &str| bundle.len() <= most;
        assert_eq!(fitted(&bundle, fits(200), message), json!(format!("before {bundle} behind")));
        assert_eq!(fitted(&bundle, fits(9), message), json!("before ééé… behind"));
        assert_eq!(fitted(&bundle, fits(0), message), json!("before … behind"));
    }

    #[test]
    fn prompts_stand_in_the_order_of_their_names() {
        assert!(names().is_sorted());
        let (text, _) = record("Vinegar\n beats acid.", Some(" T-0001 "));
        assert!(text.contains("Vinegar\n beats acid.") && text.contains("Relate it to T-0001,"));
        assert!(start("T-1", None).0.contains("current-agent-session"));
        assert!(finish("T-1", Some("Done.")).1.contains("\n\nDone.\n\n"));
    }
}
