//! The workflows that are to be had: found again at each call, so that a new folder is there at once.

use std::sync::Arc;

use definition::{Decider, ParseError, ParseErrorKind, Workflow};
use engine::{Listed, Refusal, resolve_decider};

use crate::{Found, Invalid, Runtime};

impl Runtime {
    /// Returns the workflows, by name, and those that cannot be used.
    pub fn list_workflows(&self) -> (Vec<Listed>, Vec<Invalid>) {
        let mut found = self.world.find_workflows();
        found.sort_by(|one, two| one.name.cmp(&two.name));
        read_all(found)
    }

    /// Returns the workflows that cannot be used. Built-in ones are not even looked at.
    pub fn list_invalid(&self) -> Vec<Invalid> {
        let mut found = self.world.find_workflows();
        found.retain(|it| !it.is_builtin);
        read_all(found).1
    }

    /// Returns the workflow called `name` as it is now.
    pub fn find_workflow(&self, name: &str) -> Result<Workflow, Refusal> {
        self.find_listed(name).map(|it| it.workflow)
    }

    /// Returns the workflow called `name` as it is now, and where it is.
    pub fn find_listed(&self, name: &str) -> Result<Listed, Refusal> {
        let mut found = self.world.find_workflows();
        let place = found.iter().position(|it| it.name.as_str() == name);
        let Some(place) = place else {
            // One that cannot be read cannot be begun either.
            let usable = found.iter().filter(|it| it.read().is_ok());
            let mut known: Vec<String> = usable.map(|it| it.name.to_string()).collect();
            known.sort();
            return Err(Refusal::WorkflowUnknown { name: name.to_owned(), known });
        };
        let found = found.swap_remove(place);
        let workflow = found.read().map_err(|error| {
            let (name, problem) = (name.to_owned(), error.to_string());
            match error.kind {
                ParseErrorKind::NotFound => Refusal::WorkflowIncomplete { name, problem },
                ParseErrorKind::Invalid => Refusal::WorkflowInvalid { name, problem },
            }
        })?;
        Ok(Listed { workflow, origin: found.origin })
    }

    /// Returns the workflow that a new run is begun with. A built-in one is read once.
    pub(crate) fn find_to_begin(&self, name: &str) -> Result<Arc<Workflow>, Refusal> {
        let found = self.world.find_workflows();
        let is_builtin = found.iter().any(|it| it.name.as_str() == name && it.is_builtin);
        if is_builtin && let Some(workflow) = self.loaded.builtin.lock().get(name) {
            return Ok(Arc::clone(workflow));
        }
        let workflow = Arc::new(self.find_workflow(name)?);
        if is_builtin {
            self.loaded.builtin.lock().insert(name.to_owned(), Arc::clone(&workflow));
        }
        Ok(workflow)
    }

    /// Returns who would decide in a new run of `workflow`.
    pub fn resolve_decider(&self, workflow: &Workflow) -> Decider {
        resolve_decider(workflow, self.settings.has_model)
    }
}

/// Says what is wrong with a workflow that was found.
pub(crate) fn invalid(found: &Found, error: ParseError) -> Invalid {
    let (name, origin) = (found.name.to_string(), found.origin.clone());
    let file = found.file.clone().unwrap_or_else(|| name.clone());
    Invalid { name, file, origin, diagnostics: error.diagnostics }
}

fn read_all(found: Vec<Found>) -> (Vec<Listed>, Vec<Invalid>) {
    let (mut listed, mut invalid) = (Vec::new(), Vec::new());
    for found in found {
        match found.read() {
            Ok(workflow) => listed.push(Listed { workflow, origin: found.origin }),
            Err(error) => invalid.push(self::invalid(&found, error)),
        }
    }
    (listed, invalid)
}
