//! What a card's `parent` and `depends` lead to.

use super::card::Card;
use crate::failure::{Code, Failure};
use std::collections::{HashMap, HashSet};

/// Every card by its id; of several with one id the first counts.
pub(super) struct Others<'a> {
    by_id: HashMap<&'a str, &'a Card>,
}

impl<'a> Others<'a> {
    /// The cards, archived ones too.
    pub(super) fn of(cards: &'a [Card]) -> Self {
        let mut by_id = HashMap::with_capacity(cards.len());
        for card in cards {
            by_id.entry(card.id.as_str()).or_insert(card);
        }
        Self { by_id }
    }

    fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    fn parent(&self, id: &str) -> Option<&'a str> {
        self.by_id.get(id)?.field("parent")
    }

    /// Levels below a card: 0 without children.
    fn height(&self, id: &str) -> usize {
        let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
        for (child, card) in &self.by_id {
            if let Some(parent) = card.field("parent") {
                children.entry(parent).or_default().push(child);
            }
        }
        let mut seen = HashSet::from([id]);
        let mut level = vec![id];
        let mut height = 0;
        loop {
            let below = level.iter().filter_map(|id| children.get(id)).flatten().copied();
            level = below.filter(|id| seen.insert(id)).collect();
            if level.is_empty() {
                return height;
            }
            height += 1;
        }
    }
}

/// Whether a write sets the field that is checked: some rules hold only then, so that an old fault of another card does
/// not lock this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    /// It does.
    Yes,
    /// It leaves the field as it is.
    No,
}

/// Checks a card's parent: it exists, is not the card itself nor below it, and the depth stays within `most` ancestors.
pub(super) fn parent(
    id: &str,
    parent: &str,
    others: &Others<'_>,
    most: u32,
    touched: Touched,
) -> Result<(), Failure> {
    if parent == id {
        return Err(Failure::new(Code::CARD_SELF_PARENT, format!("{id} cannot be its own parent")));
    }
    if !others.has(parent) {
        let text = format!("the parent {parent} of {id} does not exist");
        return Err(Failure::new(Code::CARD_PARENT_NOT_FOUND, text).remedy("workfile card list"));
    }
    let mut ancestors = HashSet::new();
    let mut next = Some(parent);
    while let Some(at) = next {
        if at == id || ancestors.contains(at) {
            let text = format!("the parents of {id} lead in a circle through {at}");
            return Err(Failure::new(Code::CARD_PARENT_CYCLE, text));
        }
        if !others.has(at) {
            break;
        }
        ancestors.insert(at);
        next = others.parent(at);
    }
    let below = if touched == Touched::Yes { others.height(id) } else { 0 };
    let depth = ancestors.len() + below;
    if depth > most as usize {
        let text =
            format!("{id} under {parent} would be {depth} levels deep; cards.maxHierarchyDepth is {most}");
        return Err(Failure::new(Code::CARD_HIERARCHY_TOO_DEEP, text));
    }
    Ok(())
}

/// Checks a card's dependencies: each exists and is not the card itself; when the write sets them, none leads back.
pub(super) fn depends(
    id: &str,
    depends: &[String],
    others: &Others<'_>,
    touched: Touched,
) -> Result<(), Failure> {
    for dependency in depends {
        if dependency == id {
            return Err(Failure::new(Code::CARD_SELF_DEPENDENCY, format!("{id} cannot depend on itself")));
        }
        if !others.has(dependency) {
            let text = format!("{dependency}, which {id} depends on, does not exist");
            return Err(Failure::new(Code::CARD_DEPENDENCY_NOT_FOUND, text).remedy("workfile card list"));
        }
    }
    if touched == Touched::No {
        return Ok(());
    }
    let mut seen = HashSet::new();
    let mut waiting: Vec<String> = depends.to_vec();
    while let Some(at) = waiting.pop() {
        let Some(card) = others.by_id.get(at.as_str()) else { continue };
        for next in card.header.list("depends") {
            if next == id {
                let text = format!("{id} would depend on itself through {at}");
                return Err(Failure::new(Code::CARD_DEPENDENCY_CYCLE, text));
            }
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::testing::card;

    fn world() -> Vec<Card> {
        vec![
            card("T-0001", "title: Top"),
            card("T-0002", "title: Middle\nparent: T-0001\ndepends: [T-0003]"),
            card("T-0003", "title: Leaf\nparent: T-0002\ndepends: [T-0004]"),
            card("T-0004", "title: Alone\nparent: T-0099"),
            card("T-0005", "title: Circle\nparent: T-0006"),
            card("T-0006", "title: Circle\nparent: T-0005"),
        ]
    }

    fn parent_of(id: &str, above: &str, most: u32) -> &'static str {
        let cards = world();
        parent(id, above, &Others::of(&cards), most, Touched::Yes)
            .map_or_else(|failure| failure.code.name, |()| "fine")
    }

    #[test]
    fn a_parent_exists_and_does_not_lead_back() {
        assert_eq!(parent_of("T-0007", "T-0007", 2), "CARD_SELF_PARENT");
        assert_eq!(parent_of("T-0007", "T-0099", 2), "CARD_PARENT_NOT_FOUND");
        assert_eq!(parent_of("T-0001", "T-0003", 9), "CARD_PARENT_CYCLE");
        assert_eq!(parent_of("T-0007", "T-0005", 9), "CARD_PARENT_CYCLE");
        assert_eq!(parent_of("T-0007", "T-0004", 1), "fine");
    }

    #[test]
    fn h14_depth_counts_ancestors_and_what_moves_along() {
        assert_eq!(parent_of("T-0007", "T-0002", 2), "fine");
        assert_eq!(parent_of("T-0007", "T-0003", 2), "CARD_HIERARCHY_TOO_DEEP");
        assert_eq!(parent_of("T-0001", "T-0004", 2), "CARD_HIERARCHY_TOO_DEEP");
        assert_eq!(parent_of("T-0001", "T-0004", 3), "fine");
        let cards = world();
        let untouched = parent("T-0001", "T-0004", &Others::of(&cards), 1, Touched::No);
        assert!(untouched.is_ok(), "descendants count only when the card is moved");
    }

    #[test]
    fn h15_dependencies_exist_and_do_not_lead_back_when_they_are_set() {
        let cards = world();
        let check = |id: &str, depends_on: &[&str], touched| {
            let list: Vec<String> = depends_on.iter().map(|id| (*id).to_owned()).collect();
            depends(id, &list, &Others::of(&cards), touched)
                .map_or_else(|failure| failure.code.name, |()| "fine")
        };
        assert_eq!(check("T-0001", &["T-0001"], Touched::Yes), "CARD_SELF_DEPENDENCY");
        assert_eq!(check("T-0001", &["T-0099"], Touched::No), "CARD_DEPENDENCY_NOT_FOUND");
        assert_eq!(check("T-0004", &["T-0001", "T-0002"], Touched::Yes), "CARD_DEPENDENCY_CYCLE");
        assert_eq!(check("T-0004", &["T-0002"], Touched::No), "fine");
        assert_eq!(check("T-0001", &["T-0002"], Touched::Yes), "fine");
    }
}
