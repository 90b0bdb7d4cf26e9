//! What lists say of workflows, kept so that a list need not read all of them again.
//!
//! A workflow that is read takes milliseconds and a good deal of memory, and clients ask for lists
//! again and again. A card is small, and good as long as the files say the same.

use std::{collections::BTreeMap, sync::Arc};

use definition::{Source, Workflow, WorkflowName};
use serde_json::Value;

use crate::{Found, Invalid, Runtime};

/// What a list says of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub name: WorkflowName,
    pub form: definition::Form,
    pub title: String,
    pub goal: String,
    /// The pattern of the key that a run must be given.
    pub key: Option<String>,
    /// The JSON Schema of the start context.
    pub params: Option<Value>,
    pub flows: Vec<String>,
    /// The variables that a run may be given, with their defaults.
    pub vars: BTreeMap<String, Value>,
    /// The names of the steps that are worked on, in their order, with their goals.
    pub steps: Vec<(String, String)>,
}

/// A card, and what it was made from.
pub(crate) struct Kept {
    origin: String,
    source: Source,
    card: Arc<Card>,
}

impl Card {
    fn of(workflow: &Workflow) -> Self {
        let step = |it: &definition::Step| (it.name.to_string(), it.goal.clone());
        let var = |(name, var): (&String, &definition::Var)| (name.clone(), var.default.clone());
        Self {
            name: workflow.name.clone(),
            form: workflow.form,
            title: workflow.title.clone(),
            goal: workflow.goal.clone(),
            key: workflow.key.as_ref().map(|it| it.source().to_owned()),
            params: workflow.params.as_ref().map(|it| it.source().clone()),
            flows: workflow.flows.keys().cloned().collect(),
            vars: workflow.vars.iter().map(var).collect(),
            steps: workflow.work_steps().map(step).collect(),
        }
    }

    /// Returns what people call it.
    pub fn title(&self) -> &str {
        if self.title.is_empty() { self.name.as_str() } else { &self.title }
    }

    /// Returns the first line of its goal.
    pub fn headline(&self) -> &str {
        self.goal.lines().next().unwrap_or_default()
    }
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
        let workflow = found.read().map_err(|error| Invalid::new(found, error))?;
        let card = Arc::new(Card::of(&workflow));
        let source = if found.is_builtin { Source::default() } else { workflow.source };
        let kept = Kept { origin: found.origin.clone(), source, card: Arc::clone(&card) };
        self.loaded.cards.lock().insert(found.name.clone(), kept);
        Ok(card)
    }
}
