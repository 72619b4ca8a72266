//! The way to another status: what a caller brings, and the checks that a card on it has to pass.

use super::card::Card;
use super::criteria::Reading;
use super::fields::DONE;
use super::guard::{Closing, Forced, Guard, Waiver};
use super::mutate::Caller;
use super::verified::{Close, Proof};
use crate::failure::Failure;
use crate::workspace::{Cards, Workspace};

/// A caller who wants cards moved.
pub(super) struct Way<'a> {
    /// Who.
    pub(super) caller: &'a Caller,
    waiver: Waiver<'a>,
    proof: Proof<'a>,
    commit: Option<String>,
    settings: &'a Cards,
}

impl<'a> Way<'a> {
    /// The way to `status`. Git is asked here, before any lock is taken.
    pub(super) fn to(
        workspace: &'a Workspace,
        status: Option<&str>,
        waiver: Waiver<'a>,
        proof: Proof<'a>,
        caller: &'a Caller,
    ) -> Self {
        let commit = proof.commit(workspace, status);
        Self { caller, waiver, proof, commit, settings: &workspace.config.cards }
    }

    /// The checks of one card; `moved` is the status it moves to, when it moves. A card that is done already is not judged
    /// again.
    pub(super) fn before<'c>(&'c self, card: &'c Card, moved: Option<&str>) -> Result<Gates<'c>, Failure> {
        let closes = moved == Some(DONE) && card.status() != Some(DONE);
        if !closes {
            self.proof.unused(&card.id)?;
        }
        let criteria = closes.then(|| card.acceptance());
        Ok(Gates { way: self, card, criteria, guard: Guard::new(&card.id, self.waiver) })
    }
}

/// The checks of one card, asked in the order of the command.
pub(super) struct Gates<'a> {
    way: &'a Way<'a>,
    card: &'a Card,
    /// The criteria, on the way to done.
    criteria: Option<Reading>,
    guard: Guard<'a>,
}

impl Gates<'_> {
    /// The gates of done, when the card goes there; `area` is the one it lands in.
    pub(super) fn done(&mut self, area: Option<&str>) -> Result<(), Failure> {
        let Some(criteria) = &self.criteria else { return Ok(()) };
        let (proof, settings) = (&self.way.proof, self.way.settings);
        self.guard.gates(&Closing { criteria, area: area.unwrap_or_default(), proof, settings })
    }

    /// Somebody's claim.
    pub(super) fn ownership(&mut self) -> Result<(), Failure> {
        self.guard.ownership(self.card, self.way.caller.actor())
    }

    /// What was passed by force, and the close that this makes.
    pub(super) fn passed(self) -> Result<(Forced, Option<Close>), Failure> {
        let forced = self.guard.settle()?;
        let close = self.criteria.map(|_| {
            let commit = self.way.commit.clone();
            self.way.proof.close(&self.card.id, forced.gate(), self.way.caller, commit)
        });
        Ok((forced, close.transpose()?))
    }
}
