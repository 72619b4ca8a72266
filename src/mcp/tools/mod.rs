//! The tools: one declaration each, and a short function from its arguments to a call of the domain.
//!
//! A tool is data. What `tools/list` prints, what arguments are held to and what answers look like all come from its
//! declaration; the function behind it is short because the domain does the work.

mod cards;
mod docs;
mod health;
mod history;
mod lists;
mod memory;
mod output;
mod read;
mod search;

use super::arguments::{self, Arguments, Property};
use super::desk::{Effect, Stop};
use super::host::Host;
use crate::activity::actor::{self, Asked, ProcessEnv};
use crate::failure::{Code, Failure};
use crate::work::{Caller, Target};
use crate::workspace::Workspace;
pub(super) use health::report;
use output::Member;
pub(super) use read::overview;
use serde_json::{Map, Value as Json, json};

use cards::{ACTOR, REVISION};

/// What a tool answers with.
pub(super) type Answer = Result<Map<String, Json>, Failure>;

/// One tool.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: &'static str,
    /// The same for people.
    pub(super) title: &'static str,
    /// For a model that has never seen the project: what for, when to take another tool, what a refusal asks for.
    about: &'static str,
    /// What it does to records.
    pub(super) nature: Nature,
    input: &'static [Property],
    output: &'static [Member],
    /// Members that every success has.
    always: &'static [&'static str],
    /// Whether an answer can be long.
    size: Size,
    run: fn(&Call<'_>) -> Answer,
}

/// What a tool does to records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Nothing.
    Reads,
    /// It writes; the same call again adds something.
    Adds,
    /// It writes; the same call again changes nothing more.
    Settles,
    /// It writes, and what it takes away does not come back by another call of the same tool.
    Removes,
}

/// How long an answer can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// About a record.
    Bounded,
    /// With the workspace: a client is asked to show it all the same.
    Grows,
}

/// Characters of an answer that a client is asked to show inline.
const SHOWN: u32 = 100_000;

impl Tool {
    /// How calls of it are ordered.
    pub(super) fn effect(&self) -> Effect {
        if self.nature == Nature::Reads { Effect::Read } else { Effect::Write }
    }

    /// `{readOnlyHint, destructiveHint, idempotentHint, openWorldHint}`.
    pub(super) fn annotations(&self) -> Json {
        json!({
            "readOnlyHint": self.nature == Nature::Reads,
            "destructiveHint": self.nature == Nature::Removes,
            "idempotentHint": matches!(self.nature, Nature::Reads | Nature::Settles),
            "openWorldHint": false,
        })
    }

    /// The tool as it is listed.
    pub(super) fn definition(&self) -> Json {
        let mut definition = json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": arguments::schema(self.input),
            "outputSchema": output::schema(self.output, self.always),
            "annotations": self.annotations(),
        });
        if self.size == Size::Grows {
            definition["_meta"] = json!({"anthropic/maxResultSizeChars": SHOWN});
        }
        definition
    }

    /// Carries a call out: arguments are held to their declaration before anything happens.
    pub(super) fn call(
        &self,
        host: &Host,
        sent: &Map<String, Json>,
        client: Option<&str>,
        stop: &Stop,
    ) -> Answer {
        if self.nature != Nature::Reads && host.is_read_only() {
            let text = format!("this server only reads, so {} is not carried out", self.name);
            return Err(Failure::new(Code::MCP_SERVER_READ_ONLY, text));
        }
        let arguments = Arguments::check(self.input, sent)?;
        (self.run)(&Call { host, arguments, client, stop })
    }
}

/// One call of a tool.
pub(super) struct Call<'a> {
    host: &'a Host,
    arguments: Arguments,
    client: Option<&'a str>,
    stop: &'a Stop,
}

impl Call<'_> {
    /// The workspace as it is configured now.
    fn workspace(&self) -> Result<Workspace, Failure> {
        self.host.workspace()
    }

    /// The card that is meant, and the revision it must have.
    fn target(&self) -> Target<'_> {
        Target { id: self.arguments.needed("id"), revision: self.arguments.text("expectedRevision") }
    }

    /// On whose behalf: the `actor` argument, else who the client is.
    fn caller(&self) -> Result<Caller, Failure> {
        let derived = Asked { explicit: None, client: self.client, session: None };
        let acting =
            actor::identify(Asked { explicit: self.arguments.text("actor"), ..derived }, &ProcessEnv)?;
        Ok(Caller { acting, own: actor::resolve(derived, &ProcessEnv) })
    }

    /// Ends the work when nobody waits for it any more, or when it takes too long.
    fn go_on(&self) -> Result<(), Failure> {
        if !self.stop.is_due() {
            return Ok(());
        }
        Err(Failure::new(Code::INTERNAL_ERROR, "the call was given up: cancelled, or longer than 30 seconds"))
    }
}

/// An answer with one member.
fn answer(name: &str, value: impl Into<Json>) -> Map<String, Json> {
    Map::from_iter([(name.to_owned(), value.into())])
}

fn families() -> impl Iterator<Item = &'static Tool> {
    [
        cards::TOOLS,
        docs::TOOLS,
        health::TOOLS,
        history::TOOLS,
        lists::TOOLS,
        memory::TOOLS,
        read::TOOLS,
        search::TOOLS,
    ]
    .into_iter()
    .flatten()
}

/// Every tool, sorted by name.
pub(super) fn all() -> Vec<&'static Tool> {
    let mut tools: Vec<&Tool> = families().collect();
    tools.sort_by_key(|tool| tool.name);
    tools
}

/// The tools that a server has; one that only reads has only those that do.
pub(super) fn offered(host: &Host) -> impl Iterator<Item = &'static Tool> {
    let reads_only = host.is_read_only();
    all().into_iter().filter(move |tool| !reads_only || tool.nature == Nature::Reads)
}

/// The tool of a name, offered or not.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    families().find(|tool| tool.name == name)
}
