//! What a card's `parent`, `depends`, `origin` and `source` lead to.

use super::super::card::Card;
use super::{PATCH, Paths, Report};
use crate::fs::Dir;
use std::collections::HashMap;

/// Every card by its id, and which of them stand in a circle of dependencies. An id of several cards leads nowhere.
pub(super) struct Graph<'a> {
    by_id: HashMap<&'a str, Option<&'a Card>>,
    circular: HashMap<&'a str, Vec<&'a str>>,
}

/// Where a chain of parents ends.
enum Above {
    /// At the top, after so many ancestors.
    Top(usize),
    /// Where it began, or in a circle further up.
    Circle,
}

impl<'a> Graph<'a> {
    pub(super) fn of(cards: &'a [Card]) -> Self {
        let mut by_id: HashMap<&str, Option<&Card>> = HashMap::with_capacity(cards.len());
        for card in cards {
            by_id.entry(&card.id).and_modify(|known| *known = None).or_insert(Some(card));
        }
        let mut graph = Self { by_id, circular: HashMap::new() };
        graph.circular = graph.circles(cards);
        graph
    }

    fn find(&self, id: &str) -> Option<&'a Card> {
        self.by_id.get(id).copied().flatten()
    }

    fn above(&self, card: &'a Card) -> Above {
        let mut ancestors = 0;
        let mut at = card;
        while let Some(next) = at.field("parent").and_then(|parent| self.find(parent)) {
            ancestors += 1;
            if next.id == card.id || ancestors > self.by_id.len() {
                return Above::Circle;
            }
            at = next;
        }
        Above::Top(ancestors)
    }

    /// The members of each circle of dependencies, by each of its members: strongly connected cards, found in one pass
    /// without recursion (Tarjan).
    fn circles(&self, cards: &'a [Card]) -> HashMap<&'a str, Vec<&'a str>> {
        let edges: HashMap<&str, Vec<&'a str>> = cards
            .iter()
            .filter_map(|card| {
                let known = card.list("depends").into_iter().filter_map(|id| self.find(&id));
                let known: Vec<&str> =
                    known.map(|other| other.id.as_str()).filter(|id| *id != card.id).collect();
                (!known.is_empty()).then_some((card.id.as_str(), known))
            })
            .collect();
        let mut search = Search::default();
        for id in edges.keys().copied() {
            search.from(id, &edges);
        }
        search.circles
    }
}

/// A search for strongly connected ids.
#[derive(Default)]
struct Search<'a> {
    count: usize,
    /// Of each id that was met: when, and the earliest it leads back to; whether it is still open.
    seen: HashMap<&'a str, (usize, usize, bool)>,
    open: Vec<&'a str>,
    circles: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Search<'a> {
    fn from(&mut self, start: &'a str, edges: &HashMap<&'a str, Vec<&'a str>>) {
        if self.seen.contains_key(start) {
            return;
        }
        let none: &[&str] = &[];
        let next = |id: &str| edges.get(id).map_or(none, Vec::as_slice);
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        self.enter(start);
        while let Some((id, at)) = path.pop() {
            if let Some(to) = next(id).get(at).copied() {
                path.push((id, at + 1));
                match self.seen.get(to).copied() {
                    None => {
                        self.enter(to);
                        path.push((to, 0));
                    }
                    Some((met, _, true)) => self.lower(id, met),
                    Some(_) => {}
                }
                continue;
            }
            let (met, low, _) = self.seen[id];
            if let Some((above, _)) = path.last() {
                self.lower(above, low);
            }
            if low == met {
                self.close(id);
            }
        }
    }

    fn enter(&mut self, id: &'a str) {
        self.seen.insert(id, (self.count, self.count, true));
        self.count += 1;
        self.open.push(id);
    }

    fn lower(&mut self, id: &'a str, low: usize) {
        if let Some(known) = self.seen.get_mut(id) {
            known.1 = known.1.min(low);
        }
    }

    fn close(&mut self, id: &'a str) {
        let from = self.open.iter().rposition(|open| *open == id).unwrap_or(0);
        let mut circle = self.open.split_off(from);
        for member in &circle {
            if let Some(known) = self.seen.get_mut(member) {
                known.2 = false;
            }
        }
        if circle.len() > 1 {
            circle.sort_unstable();
            for member in circle.clone() {
                self.circles.insert(member, circle.clone());
            }
        }
    }
}

pub(super) fn check<'a>(report: &mut Report<'a>, graph: &Graph<'a>) {
    parent(report, graph);
    depends(report, graph);
    origin(report);
    source(report);
}

fn parent<'a>(report: &mut Report<'a>, graph: &Graph<'a>) {
    let card = report.card;
    let Some(parent) = card.field("parent") else { return };
    if parent == card.id {
        report.error("self-parent", format!("`parent` of {} is the card itself", card.id), PATCH);
        return;
    }
    if graph.find(parent).is_none() {
        let what = format!("`parent` is {parent}, which is no card, or the id of several");
        report.error("missing-parent", what, PATCH);
        return;
    }
    let most = report.settings().max_hierarchy_depth as usize;
    match graph.above(card) {
        Above::Circle => {
            let what = format!("the parents of {} lead in a circle through {parent}", card.id);
            report.error("parent-cycle", what, "`workfile card patch` sets `parent` of one of them");
        }
        Above::Top(depth) if depth > most => {
            let what = format!("{depth} cards lie above it, and cards.maxHierarchyDepth is {most}");
            report.error("hierarchy-depth", what, "`workfile card patch` sets another `parent`");
        }
        Above::Top(_) => {}
    }
}

fn depends<'a>(report: &mut Report<'a>, graph: &Graph<'a>) {
    let card = report.card;
    for id in card.list("depends") {
        if id == card.id {
            report.error("self-dependency", format!("`depends` of {id} names the card itself"), PATCH);
        } else if graph.find(&id).is_none() {
            let what =
                format!("`depends` names {id}, which is no card, or the id of several: it is never ready");
            report.error("missing-dependency", what, PATCH);
        }
    }
    let unique = graph.find(&card.id).is_some();
    if let Some(circle) = graph.circular.get(card.id.as_str()).filter(|_| unique) {
        let text = format!("{} wait for each other, so none of them is ever ready", circle.join(", "));
        report.warning("dependency-cycle", text, "`workfile card patch` sets `depends` of one of them");
    }
}

fn origin(report: &mut Report<'_>) {
    let card = report.card;
    for id in card.list("origin") {
        if id == card.id {
            report.error("self-origin", format!("`origin` of {id} names the card itself"), PATCH);
        } else if !(report.scene.exists)(&id) {
            report.warning("missing-origin", format!("`origin` names {id}, which is no record"), PATCH);
        }
    }
}

fn source(report: &mut Report<'_>) {
    let card = report.card;
    let Some(source) = card.field("source").filter(|_| report.scene.paths == Paths::Check) else { return };
    let path = source.split('#').next().unwrap_or(source);
    if !exists(report.scene.workspace, path) {
        let what = format!("`source` names {path}, which is not there inside the workspace");
        report.error("missing-source", what, PATCH);
    }
}

/// Whether something is at a path inside the workspace, no link out of it on the way.
fn exists(workspace: &crate::workspace::Workspace, path: &str) -> bool {
    let root = workspace.root.to_string_lossy();
    let root = crate::path::normalise(&root, "/");
    let full = crate::path::normalise(path, &root);
    let Some(below) = crate::path::inside(&root, &full).filter(|_| !path.contains('\0')) else {
        return false;
    };
    let inside = crate::fs::real_path(&workspace.root, &workspace.root.join(below)).is_ok();
    inside && (below.is_empty() || Dir::open(&root).is_ok() && workspace.root.join(below).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::card;

    #[test]
    fn a_circle_is_found_once_for_each_of_its_members_and_for_nobody_else() {
        let cards = [
            card("T-0001", "depends: [T-0002, T-0001]"),
            card("T-0002", "depends: T-0003"),
            card("T-0003", "depends: [T-0001, T-0004]"),
            card("T-0004", "depends: T-0005"),
            card("T-0005", "title: x"),
            card("T-0006", "depends: T-0001"),
        ];
        let graph = Graph::of(&cards);
        let mut circular: Vec<_> = graph.circular.keys().copied().collect();
        circular.sort_unstable();
        assert_eq!(circular, ["T-0001", "T-0002", "T-0003"]);
        assert_eq!(graph.circular["T-0002"], ["T-0001", "T-0002", "T-0003"]);
    }

    #[test]
    fn a_long_chain_takes_no_recursion_and_no_time() {
        let cards: Vec<Card> = (1..20_000)
            .map(|n| card(&format!("T-{n:05}"), &format!("depends: T-{:05}\nparent: T-{:05}", n + 1, n + 1)))
            .collect();
        let graph = Graph::of(&cards);
        assert!(graph.circular.is_empty());
        assert!(matches!(graph.above(&cards[0]), Above::Top(depth) if depth == cards.len() - 1));
    }

    #[test]
    fn parents_in_a_circle_end_the_walk() {
        let cards = [
            card("T-0001", "parent: T-0002"),
            card("T-0002", "parent: T-0003"),
            card("T-0003", "parent: T-0002"),
        ];
        let graph = Graph::of(&cards);
        assert!(matches!(graph.above(&cards[0]), Above::Circle));
        assert!(matches!(graph.above(&cards[1]), Above::Circle));
    }
}
