//! What lists say of workflows, kept so that a list need not read all of them again.
//!
//! A workflow that is read takes milliseconds and a good deal of memory, and clients ask for lists
//! again and again. A card is small, and good as long as the files say the same.

use std::sync::Arc;

use definition::Source;

use crate::{Card, Found, Invalid, Runtime, workflows::invalid};

/// A card, and what it was made from.
pub(crate) struct Kept {
    origin: String,
    source: Source,
    card: Arc<Card>,
}

impl Runtime {
    /// Returns a card of each workflow that can be started, by name, and those that cannot. Graphs
    /// that are a part of the program are left out: anyone who works by graphs has a list of their
    /// own, and everyone else would only read past them.
    pub fn list_cards(&self) -> (Vec<Arc<Card>>, Vec<Invalid>) {
        let mut found = self.world.find_workflows();
        found.retain(|it| !it.is_builtin || !it.is_graph());
        found.sort_by(|one, two| one.name.cmp(&two.name));
        let (mut cards, mut invalid) = (Vec::new(), Vec::new());
        for found in found {
            match self.card(&found) {
                Ok(card) => cards.push(card),
                Err(broken) => invalid.push(broken),
            }
        }
        (cards, invalid)
    }

    fn card(&self, found: &Found) -> Result<Arc<Card>, Invalid> {
        if let Some(kept) = self.loaded.cards.lock().get(&found.name)
            && kept.origin == found.origin
            && (found.is_builtin || found.is_unchanged(&kept.source))
        {
            return Ok(Arc::clone(&kept.card));
        }
        let workflow = found.read().map_err(|error| invalid(found, error))?;
        let card = Arc::new(Card::of(&workflow));
        let source = if found.is_builtin { Source::default() } else { workflow.source };
        let kept = Kept { origin: found.origin.clone(), source, card: Arc::clone(&card) };
        self.loaded.cards.lock().insert(found.name.clone(), kept);
        Ok(card)
    }
}
