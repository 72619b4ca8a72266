//! `workfile search`: records of every kind, the best first.

use super::{
    Args, Column, Command, Context, DryRun, FREE_TEXT, Flag, Listed, Offers, Output, Table, invalid_option,
};
use crate::failure::{Code, Failure};
use crate::query::list::Filter;
use crate::query::search::{self, Request};
use crate::query::{Entry, Index, Kind, Shower, View};
use serde_json::Value as Json;
use std::mem::ManuallyDrop;

/// Records in an answer without a limit.
const USUAL: usize = 100;
const MODES: &[&str] = &["auto", "lexical", "hybrid"];

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["search"],
    operands: "[QUERY…]",
    most_operands: FREE_TEXT,
    about: "find records of every kind, the best first",
    flags: &[
        Flag::value("query", "TEXT", "the query, instead of the words behind the command"),
        Flag::value("kind", "A,B", "any of these kinds").offers(Offers::Words(Kind::NAMES)),
        Flag::value("limit", "N", "at most so many; 100 without it"),
        Flag::value("mode", "MODE", "how to search; auto without it").offers(Offers::Word(MODES)),
    ],
    examples: &[
        ("workfile search retry queue -status:done", "either word, in nothing that is done"),
        (
            "workfile search --query '\"exact phrase\" tag:ui' --kind card",
            "words that follow each other, on tagged cards",
        ),
        ("workfile search --query '/time(d )?out/i'", "a regular expression over ids, titles and texts"),
    ],
    dry_run: DryRun::No,
    listed: Listed::Yes,
    run,
}];

fn run(context: &Context, args: &Args) -> Result<Output, Failure> {
    let request = request(args)?;
    let workspace = context.workspace()?;
    if context.json {
        // Its memory goes with the process, at once.
        let index = ManuallyDrop::new(Index::load(&workspace)?);
        let answer = search::answer(&Shower::new(&workspace, &index)?, &request, View::Full)?;
        return Ok(Output::new(Json::Object(answer), ""));
    }
    let kinds: &[Kind] = if request.kinds.is_empty() { &Kind::ALL } else { &request.kinds };
    let index = ManuallyDrop::new(Index::of(&workspace, kinds)?);
    let hits = search::search(&index, &request)?;
    let rows = hits.page.iter().map(|hit| row(index.entry(hit.place)));
    let columns = [Column::Id, Column::Word, Column::Text, Column::Detail];
    let output = Output::rows(Json::Null, Table::new(columns, rows), "");
    let output =
        hits.warnings.iter().fold(output, |output, warning| output.note(format!("workfile: {warning}")));
    Ok(match hits.total {
        0 => output.note("workfile: nothing is found"),
        total if total > hits.page.len() => {
            output.note(format!("workfile: {} of {total} are shown; --limit shows more", hits.page.len()))
        }
        _ => output,
    })
}

fn row(entry: Entry<'_>) -> [String; 4] {
    let texts = [entry.id(), entry.kind().name(), entry.title().unwrap_or_default()].map(str::to_owned);
    let [id, kind, title] = texts;
    [id, kind, title, entry.path().into_owned()]
}

fn request(args: &Args) -> Result<Request, Failure> {
    let words = args.words().join(" ");
    let query = match args.get("query") {
        Some(_) if !words.is_empty() => {
            let text = "a query is either behind the command or behind --query";
            return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", "--query"));
        }
        Some(query) => query.to_owned(),
        None => words,
    };
    let kind = |name: &String| {
        let wanted = format!("some of {}", Kind::NAMES.join(", "));
        Kind::named(name).ok_or_else(|| allowed(invalid_option("kind", name, &wanted), Kind::NAMES))
    };
    let kinds = args.list("kind").unwrap_or_default().iter().map(kind).collect::<Result<_, _>>()?;
    match args.get("mode") {
        None | Some("auto" | "lexical") => {}
        Some("hybrid") => {
            let text = "there is no provider to rank by meaning; `--mode auto` searches by words";
            return Err(Failure::new(Code::SEARCH_PROVIDER_UNAVAILABLE, text));
        }
        Some(mode) => {
            let wanted = format!("one of {}", MODES.join(", "));
            return Err(allowed(invalid_option("mode", mode, &wanted), MODES));
        }
    }
    Ok(Request {
        query,
        kinds,
        filter: Filter::nothing(),
        offset: 0,
        limit: args.at_least_one("limit")?.unwrap_or(USUAL),
    })
}

/// The same failure with what would be accepted.
fn allowed(failure: Failure, words: &[&str]) -> Failure {
    failure.with("allowed", words)
}
