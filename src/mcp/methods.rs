//! Every method: what it answers at once, and what becomes a job.

use super::call::Prepared;
use super::desk::{Effect, Stop};
use super::era::{Asked, Era, Fresh, Session, discovered, initialized};
use super::host::Host;
use super::message::{INTERNAL_ERROR, METHOD_NOT_FOUND, Outcome, Request, RpcError};
use super::prompts;
use super::refusal;
use super::resources;
use super::tools;
use crate::failure::{Code, Failure};
use serde_json::{Map, Value as Json, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Work that needs the workspace.
pub(super) type Task = Box<dyn FnOnce(&Host, &Stop) -> Outcome + Send>;

/// What becomes of a request.
pub(super) enum Step {
    /// It is answered, in its place.
    Now(Outcome),
    /// It is answered before everything else.
    First(Outcome),
    /// It has to be worked on.
    Later(Effect, Task),
}

/// Decides about a request. A handshake takes effect here, so that what follows it is judged by it.
pub(super) fn step(session: &mut Session, host: &Host, request: Request) -> Step {
    match guarded(|| session.ask(&request).map(|asked| decide(asked, host, request))) {
        Ok(Ok(step)) => step,
        Ok(Err(refused)) => Step::Now(Err(refused)),
        Err(defect) => Step::Now(Err(defect)),
    }
}

fn decide(asked: Asked, host: &Host, request: Request) -> Step {
    let (era, client) = match asked {
        Asked::Handshake(revision) => return Step::Now(Ok(initialized(revision))),
        Asked::Ping => return Step::First(Ok(json!({}))),
        Asked::Method(era, client) => (era, client),
    };
    let Request { method, params, .. } = request;
    let listed = |name: &str, entries: Vec<Json>| {
        Step::Now(one_page(&params).map(|()| constant(era, name, entries.into())))
    };
    match (method.as_str(), era) {
        ("server/discover", Era::Modern) => Step::Now(discovered()),
        ("tools/list", _) => listed("tools", tools::offered(host).map(tools::Tool::definition).collect()),
        ("prompts/list", _) => listed("prompts", prompts::list()),
        ("prompts/get", _) => {
            Step::Later(Effect::Read, Box::new(move |host, _| prompts::get(host, era, &params)))
        }
        ("resources/templates/list", _) => listed("resourceTemplates", resources::templates()),
        ("tools/call", _) => match Prepared::read(params) {
            Err(refused) => Step::Now(Err(refused)),
            Ok(call) => {
                let effect = call.effect(host);
                Step::Later(
                    effect,
                    Box::new(move |host, stop| Ok(call.run(host, era, client.as_deref(), stop))),
                )
            }
        },
        ("resources/list", _) => Step::Later(
            Effect::Read,
            Box::new(move |host, _| resources::list(host, &params).map(|page| volatile(era, page))),
        ),
        ("resources/read", _) => Step::Later(
            Effect::Read,
            Box::new(move |host, _| resources::read(host, &params).map(|read| volatile(era, read))),
        ),
        _ => {
            let text = format!("there is no method {}", crate::path::one_line(&method));
            Step::Now(Err(refusal::error(METHOD_NOT_FOUND, &Failure::new(Code::MCP_METHOD_NOT_FOUND, text))))
        }
    }
}

/// Does the work of a job; a panic in it costs this one answer.
pub(super) fn carry_out(task: Task, host: &Host, stop: &Stop) -> Outcome {
    guarded(AssertUnwindSafe(|| task(host, stop))).and_then(|outcome| outcome)
}

/// What is answered for a request that takes too long.
pub(super) fn late() -> RpcError {
    let text = "the request has taken more than 30 seconds and was given up";
    refusal::error(INTERNAL_ERROR, &Failure::new(Code::INTERNAL_ERROR, text))
}

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, RpcError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let failure = Failure::new(Code::INTERNAL_ERROR, "a defect of this server; its stderr says more");
        refusal::error(INTERNAL_ERROR, &failure)
    })
}

/// A list that fits one page takes no cursor.
fn one_page(params: &Map<String, Json>) -> Result<(), RpcError> {
    match params.get("cursor") {
        None => Ok(()),
        Some(_) => Err(refusal::params(&Failure::new(Code::MCP_CURSOR_INVALID, "this list has one page"))),
    }
}

fn constant(era: Era, name: &str, entries: Json) -> Json {
    era.dress(Fresh::Constant.hint(era, Map::from_iter([(name.to_owned(), entries)])))
}

fn volatile(era: Era, result: Map<String, Json>) -> Json {
    era.dress(Fresh::Volatile.hint(era, result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::desk::Ticket;
    use crate::mcp::host::Options;
    use crate::mcp::message::{Content, Message, read};

    #[test]
    fn a_panic_costs_one_answer() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("project.config.json"), r#"{"schemaVersion": 2}"#).unwrap();
        let options = Options { root: Some(root.path().to_owned()), ..Options::default() };
        let host = Host::open(&options).unwrap();
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
        let Ok(Content::One(Message::Request(request))) = read(line) else { panic!("no request") };
        let stop = Ticket::new(&request.id).stop;
        let failed = carry_out(Box::new(|_, _| panic!("on purpose")), &host, &stop).unwrap_err();
        let failed = serde_json::to_value(failed).unwrap();
        assert_eq!((&failed["code"], &failed["data"]["code"]), (&json!(-32603), &json!("INTERNAL_ERROR")));
        assert!(!failed.to_string().contains("on purpose"));
        assert_eq!(carry_out(Box::new(|_, _| Ok(json!(7))), &host, &stop), Ok(json!(7)));
    }
}
