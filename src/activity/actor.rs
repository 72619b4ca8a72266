//! Who is asking: the one answer that hooks, command line and server share.

use crate::failure::{Code, Failure};
use crate::path::trim;

/// Longest actor, in characters.
const LONGEST: usize = 200;

/// Session ids, in the order they are asked for.
const SESSION: [&str; 3] = ["WORKFILE_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"];
const USER: [&str; 3] = ["USER", "USERNAME", "LOGNAME"];
const HOST: [&str; 2] = ["HOSTNAME", "COMPUTERNAME"];

/// The environment that identity is derived from; the process's own, or a test's.
pub trait Env {
    /// The value of a variable; `None` when it is unset or not text.
    fn get(&self, name: &str) -> Option<String>;
}

/// The process's environment.
#[derive(Clone, Copy, Debug)]
pub struct ProcessEnv;

impl Env for ProcessEnv {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl<F: Fn(&str) -> Option<String>> Env for F {
    fn get(&self, name: &str) -> Option<String> {
        self(name)
    }
}

/// How an identity was arrived at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `--actor`.
    Argument,
    /// `WORKFILE_ACTOR`.
    Environment,
    /// The name an MCP client gave.
    McpClient,
    /// The same with a session.
    McpClientSession,
    /// User and host variables.
    UserHost,
    /// The same with a session.
    UserHostSession,
    /// Nothing to go by.
    Unresolved,
}

impl Source {
    /// As `whoami` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Environment => "env:WORKFILE_ACTOR",
            Self::McpClient => "mcp-client",
            Self::McpClientSession => "mcp-client+session",
            Self::UserHost => "user@host",
            Self::UserHostSession => "user@host+session",
            Self::Unresolved => "unresolved",
        }
    }
}

/// Who somebody is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The actor; `None` when nothing names one.
    pub actor: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// The session id as it was given, when there is one.
    pub session: Option<String>,
}

impl Identity {
    /// The session's discriminator, [`disc`].
    pub fn disc(&self) -> Option<String> {
        self.session.as_deref().and_then(disc)
    }
}

/// What the caller knows about itself.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// An actor named outright.
    pub explicit: Option<&'a str>,
    /// The name an MCP client gave.
    pub client: Option<&'a str>,
    /// A session id from the host.
    pub session: Option<&'a str>,
}

impl Asked<'_> {
    /// Nothing but the environment.
    pub const NOTHING: Asked<'static> = Asked { explicit: None, client: None, session: None };
}

/// The first eight letters and digits of a session id, lower case; `None` when it has none.
#[allow(
    clippy::inline_always,
    reason = "a call to another page of the program costs a hook more than the call does"
)]
#[inline(always)]
pub fn disc(session: &str) -> Option<String> {
    let mut short = String::with_capacity(8);
    for byte in session.bytes().filter(u8::is_ascii_alphanumeric).take(8) {
        short.push(char::from(byte.to_ascii_lowercase()));
    }
    (!short.is_empty()).then_some(short)
}

/// The session id: the host's, else the first of the three variables that is not blank.
pub fn session(given: Option<&str>, env: &impl Env) -> Option<String> {
    let given = given.map(trim).filter(|id| !id.is_empty()).map(str::to_owned);
    given.or_else(|| first(env, &SESSION))
}

/// Who is asking, under a name that may be used: [`resolve`], then [`check`].
pub fn identify(asked: Asked<'_>, env: &impl Env) -> Result<Identity, Failure> {
    let found = resolve(asked, env);
    found.actor.as_deref().map_or(Ok(()), check)?;
    Ok(found)
}

/// Who is asking. Never fails: a name that was given and may not be used is used all the same.
pub fn resolve(asked: Asked<'_>, env: &impl Env) -> Identity {
    let session = session(asked.session, env);
    let named =
        |actor: &str, source| Identity { actor: Some(actor.to_owned()), source, session: session.clone() };
    if let Some(actor) = asked.explicit.map(trim).filter(|actor| !actor.is_empty()) {
        return named(actor, Source::Argument);
    }
    if let Some(actor) = first(env, &["WORKFILE_ACTOR"]) {
        return named(&actor, Source::Environment);
    }
    let suffix = session.as_deref().and_then(disc);
    let client = asked.client.map(trim).filter(|name| !name.is_empty());
    let (base, plain, with_session) = if let Some(client) = client {
        (format!("mcp:{client}"), Source::McpClient, Source::McpClientSession)
    } else if let Some(user) = first(env, &USER) {
        let host = first(env, &HOST).unwrap_or_else(|| "local".to_owned());
        (format!("{user}@{host}"), Source::UserHost, Source::UserHostSession)
    } else {
        return Identity { actor: None, source: Source::Unresolved, session };
    };
    let (actor, source) = match suffix {
        Some(suffix) => (format!("{base}#{suffix}"), with_session),
        None => (base, plain),
    };
    Identity { actor: Some(plain_name(&actor)), source, session }
}

/// Refuses a name that the trail could not be read back with: `CARD_ACTOR_INVALID`.
pub fn check(actor: &str) -> Result<(), Failure> {
    if actor.chars().count() > LONGEST || actor.chars().any(is_forbidden) {
        let text = "an actor is at most 200 characters, without control characters, `·` and `—`";
        return Err(Failure::new(Code::CARD_ACTOR_INVALID, text).with("actor", actor));
    }
    Ok(())
}

fn first(env: &impl Env, names: &[&str]) -> Option<String> {
    names
        .iter()
        .find_map(|name| env.get(name).map(|value| trim(&value).to_owned()).filter(|value| !value.is_empty()))
}

fn is_forbidden(c: char) -> bool {
    c.is_control() || c == '·' || c == '—'
}

/// A derived name with what the trail is parsed by replaced.
fn plain_name(actor: &str) -> String {
    if actor.chars().any(is_forbidden) || actor.chars().count() > LONGEST {
        actor.chars().take(LONGEST).map(|c| if is_forbidden(c) { '-' } else { c }).collect()
    } else {
        actor.to_owned()
    }
}
