//! `card list` and `card show`.

use super::super::{Args, Column, Context, Flag, Offers, Output, Table, input, invalid_option, split_list};
use super::NO_CARD;
use crate::failure::{Code, Failure};
use crate::query::list::{Filter, Holding, boundary};
use crate::query::{Entry, Kind};
use crate::work::card::{Body, View};
use crate::work::fields::{PRIORITIES, STATUSES, TYPES};
use crate::work::load::{self, Assets};
use crate::work::{Card, Listing};
use crate::workspace::parallel;
use serde_json::{Value as Json, json};
use std::mem::ManuallyDrop;

pub(super) const LIST: &[Flag] = &[
    Flag::value("status", "A,B", "any of these statuses").offers(Offers::Words(STATUSES)),
    Flag::value("area", "A,B", "any of these areas"),
    Flag::value("type", "A,B", "any of these types").offers(Offers::Words(TYPES)),
    Flag::value("priority", "A,B", "any of these priorities").offers(Offers::Words(PRIORITIES)),
    Flag::value("tag", "A,B", "any of these tags"),
    Flag::many("axis", "NAME=A,B", "any of these values of an axis"),
    Flag::value("parent", "ID", "directly below this card").offers(Offers::Card),
    Flag::value("claimed-by", "ACTOR", "claimed by this actor"),
    Flag::switch("unclaimed", "claimed by nobody"),
    Flag::value("updated-since", "DATE", "changed on this day or later"),
    Flag::value("limit", "N", "at most so many"),
    Flag::value("offset", "N", "without the first so many"),
    Flag::value("fields", "A,B", "with --json: only these keys of a card"),
    Flag::switch("with-body", "with --json: the body instead of its length"),
];

pub(super) fn list(context: &Context, args: &Args) -> Result<Output, Failure> {
    let filter = filter(args)?;
    let (limit, offset) = (args.number("limit")?, args.number("offset")?.unwrap_or(0));
    let workspace = context.workspace()?;
    filter.check(Kind::Card, &workspace.config)?;
    let mut listing = load::all(&workspace)?;
    let is_empty = listing.cards.is_empty();
    let mut matching = std::mem::take(&mut listing.cards);
    matching.retain(|card| filter.matches(Entry::Card(card, "")));
    let (total, most) = (matching.len(), limit.unwrap_or(usize::MAX));
    if !context.json {
        // Its memory goes with the process, at once.
        let matching = ManuallyDrop::new(matching);
        let page: Vec<&Card> = matching.iter().skip(offset).take(most).collect();
        let output = unreadable(Output::rows(Json::Null, rows(&page), ""), &listing);
        return Ok(match total {
            0 if is_empty => output.note(format!("workfile: {NO_CARD}")),
            0 => output.note("workfile: no card matches"),
            _ => output,
        });
    }
    let assets = Assets::open(&workspace)?;
    let fields = args.list("fields");
    let body = if args.has("with-body") { Body::Whole } else { Body::Length };
    // Each card goes when its view is there, so that there is never all of both.
    let view =
        |card: Card| card.view(View { body, assets: Some(assets.of(&card.id)), only: fields.as_deref() });
    matching.truncate(offset.saturating_add(most));
    matching.drain(..offset.min(matching.len()));
    let records = parallel::map(matching, view);
    let truncated = offset.saturating_add(records.len()) < total;
    let mut answer = json!({"records": [], "total": total, "offset": offset, "truncated": truncated});
    // The macro would copy them.
    answer["records"] = records.into();
    Ok(Output::new(answer, ""))
}

fn filter(args: &Args) -> Result<Filter, Failure> {
    let list = |flag: &str| args.list(flag).unwrap_or_default();
    let claim = match (args.get("claimed-by"), args.has("unclaimed")) {
        (Some(_), true) => {
            let text = "--claimed-by and --unclaimed match nothing together";
            return Err(Failure::new(Code::CLI_ARGUMENT_CONFLICT, text).with("flag", "--unclaimed"));
        }
        (Some(actor), false) => Holding::Actor(actor.to_owned()),
        (None, true) => Holding::Nobody,
        (None, false) => Holding::Any,
    };
    let updated_since = args.get("updated-since").map(|text| {
        let wanted = "a day YYYY-MM-DD or an RFC 3339 time";
        boundary(text).ok_or_else(|| invalid_option("updated-since", text, wanted))
    });
    Ok(Filter {
        status: list("status"),
        types: list("type"),
        priority: list("priority"),
        area: list("area"),
        tags: list("tag"),
        axes: input::axes(args)?.into_iter().map(|(name, values)| (name, split_list(&values))).collect(),
        parent: args.get("parent").map(str::to_owned),
        claim,
        updated_since: updated_since.transpose()?,
        ..Filter::nothing()
    })
}

/// The rows of cards. Who holds them is shown to people, who would otherwise look for it in each card.
fn rows(cards: &[&Card]) -> Table {
    let columns = [Column::Id, Column::Status, Column::Priority, Column::Holder, Column::Text];
    let field = |card: &'_ Card, key| card.field(key).unwrap_or_default().to_owned();
    let keys = ["id", "status", "priority", "claimed_by", "title"];
    Table::new(columns, cards.iter().map(|card| keys.map(|key| field(card, key))))
}

/// Says which files among the cards are none.
fn unreadable(output: Output, listing: &Listing) -> Output {
    let note = |output: Output, file: &load::Unreadable| {
        output.note(format!("workfile: {} cannot be read: {}", file.file, file.reason))
    };
    listing.unreadable.iter().fold(output, note)
}

pub(super) fn show(context: &Context, args: &Args) -> Result<Output, Failure> {
    let id = args.need(0, "ID")?;
    let workspace = context.workspace()?;
    let listing = load::all(&workspace)?;
    let card = listing.get(id)?;
    let assets = Assets::open(&workspace)?.of(&card.id);
    let mut json = card.view(View { body: Body::Whole, assets: Some(assets), only: None });
    let acceptance = card.acceptance();
    if let (true, Json::Object(map)) = (acceptance.present, &mut json) {
        map.insert("acceptance".to_owned(), acceptance.to_json());
    }
    Ok(Output::json(json))
}
