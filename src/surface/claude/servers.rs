//! `.mcp.json`: this program's server put into a file that belongs to the repository.
//!
//! One value is owned, `mcpServers.workfile`; every other server and key stays in its place, byte for byte.

use super::binary::Form;
use super::jsonedit::{Fate, Layout, apply};
use super::jsontext::{Member, Node, Problem, parse, problem};
use super::ledger::Ledger;
use super::opened::{Container, Left, Opened, WHOLE};
use crate::record::digest;
use serde_json::{Map, Value as Json, json};

/// Where it lies.
pub(super) const PATH: &str = ".mcp.json";

/// The object of servers.
const SERVERS: &str = "mcpServers";

/// The name of ours.
const NAME: &str = "workfile";

/// What the ledger and a report call it.
pub(super) const KEY: &str = "mcpServers.workfile";

/// The server that an install registers. It finds its workspace from the folder that the host starts it in.
pub(super) fn server(form: Form) -> Json {
    json!({ "command": form.server_command(), "args": ["mcp"] })
}

/// The containers that an install needs.
pub(super) fn containers() -> Vec<String> {
    vec![SERVERS.to_owned()]
}

/// A file of its own, for a repository that has none.
pub(super) fn fresh(form: Form) -> String {
    let servers = Map::from_iter([(NAME.to_owned(), server(form))]);
    Layout::of("").render(&json!({ SERVERS: servers }), 0) + "\n"
}

/// The file, read.
pub(super) struct Servers<'t> {
    text: &'t str,
    root: Node,
}

impl<'t> Servers<'t> {
    /// Reads a file. A problem is a conflict: nothing in the file may change.
    pub(super) fn read(bytes: &'t [u8]) -> Result<Self, Problem> {
        let (text, root) = parse(bytes)?;
        let Some(members) = root.members() else {
            return Err(problem(text, root.span.start, "the file is not an object"));
        };
        let mut found = members.iter().filter(|member| member.key == SERVERS);
        if let Some(servers) = found.next() {
            if let Some(second) = found.next() {
                return Err(problem(text, second.start, format!("`{SERVERS}` stands there twice")));
            }
            let Some(servers) = servers.value.members() else {
                return Err(problem(text, servers.value.span.start, format!("`{SERVERS}` is not an object")));
            };
            let mut ours = servers.iter().filter(|member| member.key == NAME);
            if let (Some(_), Some(second)) = (ours.next(), ours.next()) {
                return Err(problem(text, second.start, format!("`{NAME}` stands there twice")));
            }
        }
        Ok(Self { text, root })
    }

    fn servers(&self) -> &[Member] {
        self.root.get(SERVERS).and_then(Node::members).unwrap_or_default()
    }

    fn ours(&self) -> Option<&Node> {
        self.root.get(SERVERS)?.get(NAME)
    }

    /// Whether the server is registered as an install would do it.
    fn is_settled(&self, form: Form) -> bool {
        self.ours().is_some_and(|ours| ours.equals(&server(form)))
    }

    /// Servers that the ledger lists and that are no longer generated; those that somebody changed since are not ours.
    pub(super) fn abandoned(&self, ledger: &Ledger) -> Vec<&str> {
        let is_listed = |name: &str| ledger.lists("mcp", &format!("{SERVERS}.{name}"));
        let is_as_recorded = |member: &Member| {
            let recorded = ledger.digest(&format!("{SERVERS}.{}", member.key));
            recorded.is_some() && self.digest(&member.value).as_deref() == recorded
        };
        let abandoned =
            |member: &&Member| member.key != NAME && is_listed(&member.key) && is_as_recorded(member);
        self.servers().iter().filter(abandoned).map(|member| member.key.as_str()).collect()
    }

    /// What is not as an install would leave it, as a report names it.
    pub(super) fn drift(&self, form: Form, ledger: &Ledger) -> Vec<String> {
        let ours = (!self.is_settled(form)).then(|| KEY.to_owned());
        let leftover =
            self.abandoned(ledger).into_iter().map(|name| format!("{SERVERS}.{name} (no longer generated)"));
        ours.into_iter().chain(leftover).collect()
    }

    /// The file with our server in place; `None` when nothing is to be done.
    pub(super) fn merged(&self, form: Form, ledger: &Ledger) -> Option<String> {
        if self.drift(form, ledger).is_empty() {
            return None;
        }
        let layout = Layout::of(self.text);
        let abandoned = self.abandoned(ledger);
        let fate = |member: &Member| match member.key.as_str() {
            NAME if !self.is_settled(form) => Fate::Replace(layout.render_member(NAME, &server(form), 2)),
            name if abandoned.contains(&name) => Fate::Drop,
            _ => Fate::Keep,
        };
        let splices = if let Some(servers) = self.root.get(SERVERS) {
            let children: Vec<_> =
                self.servers().iter().map(|member| (member.span(), fate(member))).collect();
            let added = self.ours().is_none().then(|| layout.render_member(NAME, &server(form), 2));
            layout.edit(&servers.span, &children, added.as_slice(), 1)
        } else {
            let members = self.root.members().unwrap_or_default();
            let children: Vec<_> = members.iter().map(|member| (member.span(), Fate::Keep)).collect();
            let servers = Map::from_iter([(NAME.to_owned(), server(form))]);
            let added = [layout.render_member(SERVERS, &servers.into(), 1)];
            layout.edit(&self.root.span, &children, &added, 0)
        };
        let mut text = apply(self.text, splices);
        if !text.ends_with('\n') {
            text.push_str(layout.newline());
        }
        Some(text)
    }

    /// The digest of a value in its compact form.
    fn digest(&self, node: &Node) -> Option<String> {
        let value: Json = serde_json::from_str(&self.text[node.span.clone()]).ok()?;
        Some(digest(value.to_string()))
    }

    /// The containers that are there.
    pub(super) fn containers(&self) -> Vec<Container<'_>> {
        let inner = |span: &std::ops::Range<usize>| &self.text[span.start + 1..span.end - 1];
        let servers_are_ours = self.servers().len() == 1 && self.ours().is_some();
        let is_alone = self.root.members().is_some_and(|members| members.len() == 1);
        let container = |key: &str, node: &Node, holds_ours_alone| Container {
            key: key.to_owned(),
            inner: inner(&node.span),
            holds_ours_alone,
        };
        let whole = container(WHOLE, &self.root, is_alone && servers_are_ours);
        let servers = self.root.get(SERVERS).map(|servers| container(SERVERS, servers, servers_are_ours));
        std::iter::once(whole).chain(servers).collect()
    }

    /// Whether the server is as an install wrote it: by the digest of the ledger, or, without one, as either form has it.
    pub(super) fn is_as_written(&self, recorded: Option<&str>) -> bool {
        let Some(ours) = self.ours() else { return true };
        let is_known = |form| ours.equals(&server(form));
        [Form::Path, Form::Vendored].into_iter().any(is_known)
            || (recorded.is_some() && self.digest(ours).as_deref() == recorded)
    }

    /// What is left without our server. A container that this empties goes when an install opened it.
    pub(super) fn without(&self, opened: &Opened) -> Left {
        let layout = Layout::of(self.text);
        let fate = |drop| if drop { Fate::Drop } else { Fate::Keep };
        let servers: Vec<_> =
            self.servers().iter().map(|member| (member.span(), fate(member.key == NAME))).collect();
        let stays = |(_, fate): &(_, Fate)| !matches!(fate, Fate::Drop);
        let container = self.root.get(SERVERS);
        let closes = container.is_some() && opened.has(SERVERS) && !servers.iter().any(stays);
        let members = self.root.members().unwrap_or_default();
        let members: Vec<_> =
            members.iter().map(|member| (member.span(), fate(closes && member.key == SERVERS))).collect();
        if opened.has(WHOLE) && !members.iter().any(stays) {
            return Left::Nothing;
        }
        let splices = match container {
            Some(_) if closes => opened.take_out(WHOLE, &layout, &self.root.span, &members),
            Some(container) => opened.take_out(SERVERS, &layout, &container.span, &servers),
            None => Vec::new(),
        };
        if splices.is_empty() { Left::All } else { Left::Text(opened.close(self.text, splices)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(text: &str, form: Form) -> Option<String> {
        Servers::read(text.as_bytes()).unwrap().merged(form, &Ledger::default())
    }

    const OURS: &str = r#""workfile": {"args":["mcp"],"command":"workfile"}"#;

    #[test]
    fn one_value_is_owned_and_the_others_keep_their_bytes() {
        assert_eq!(merged(&fresh(Form::Path), Form::Path), None);
        assert_eq!(merged(&format!("{{\"mcpServers\": {{{OURS}}}}}"), Form::Path), None);
        let theirs = "{ \"mcpServers\" : { \"other\":{\"command\":\"x\",\"n\":1e3} },\n\"more\": [1.0] }";
        let done = merged(theirs, Form::Path).unwrap();
        let (before, after) = theirs.split_at(theirs.find(" },\n").unwrap());
        assert!(
            done.starts_with(&format!("{before},\n    \"workfile\": {{\n"))
                && done.ends_with(&format!("{after}\n")),
            "{done}"
        );
        assert_eq!(merged(&done, Form::Path), None);
        let vendored = merged(&done, Form::Vendored).unwrap();
        assert!(vendored.starts_with(before) && vendored.ends_with(&format!("{after}\n")), "{vendored}");
        let value: Json = serde_json::from_str(&vendored).unwrap();
        assert_eq!(
            value["mcpServers"]["workfile"]["command"],
            "${CLAUDE_PROJECT_DIR:-.}/.project/bin/workfile"
        );
        let foreign = "{\"mcpServers\": {\"workfile\": 7, \"z\": 1.0}}\n";
        let done = merged(foreign, Form::Path).unwrap();
        assert!(done.ends_with(", \"z\": 1.0}}\n"), "{done}");
    }

    #[test]
    fn what_is_no_longer_generated_goes_while_it_is_as_it_was_recorded() {
        let text = format!(
            "{{\"mcpServers\": {{\"old\": {{\"a\":1}}, {OURS}, \"mine\": {{\"a\":1}}, \"kept\": 2}}}}\n"
        );
        let (old, kept) = (digest("{\"a\":1}"), digest("1"));
        let ledger = json!({
            "keys": { "mcp": ["mcpServers.old", "mcpServers.kept", "mcpServers.workfile"] },
            "digests": { "mcpServers.old": old, "mcpServers.mine": old, "mcpServers.kept": kept },
        });
        let ledger = Ledger::read(Some(ledger.to_string().as_bytes())).unwrap();
        let servers = Servers::read(text.as_bytes()).unwrap();
        assert_eq!(servers.drift(Form::Path, &ledger), ["mcpServers.old (no longer generated)"]);
        let done = servers.merged(Form::Path, &ledger).unwrap();
        assert_eq!(done, text.replace("\"old\": {\"a\":1}, ", ""));
    }

    #[test]
    fn what_cannot_be_merged_is_named_by_line_and_column() {
        for (text, reason) in [
            ("{,}", "line 1, column 2: expected"),
            ("[]", "line 1, column 1: the file is not an object"),
            ("{\"mcpServers\": []}", "line 1, column 16: `mcpServers` is not an object"),
            ("{\"mcpServers\":{},\n\"mcpServers\":{}}", "line 2, column 1: `mcpServers` stands there twice"),
            (
                "{\"mcpServers\":{\"workfile\":1,\"workfile\":2}}",
                "line 1, column 29: `workfile` stands there twice",
            ),
        ] {
            let Err(problem) = Servers::read(text.as_bytes()) else { panic!("{text}") };
            assert!(problem.to_string().starts_with(reason), "{text}: {problem}");
        }
    }

    #[test]
    fn a_value_that_somebody_changed_is_told_by_its_digest() {
        let read = |text: &'static str| Servers::read(text.as_bytes()).unwrap();
        let npx = "{\"mcpServers\":{\"workfile\": {\"command\" : \"npx\"}}}";
        let recorded = digest("{\"command\":\"npx\"}");
        assert!(read(npx).is_as_written(Some(&recorded)));
        assert!(!read(npx).is_as_written(Some("sha256:0")) && !read(npx).is_as_written(None));
        assert!(read("{}").is_as_written(None));
    }
}
