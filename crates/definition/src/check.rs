//! Lints for a workflow that can be run: steps that are never reached, endless loops, misspelt names,
//! comparisons that are always false.

mod artifacts;
mod conditions;
mod context;
mod gates;
mod graph;
mod guidance;
mod items;

pub(crate) use guidance::{mentioned_steps, mentions_end};
pub use items::find_unlinked;

use crate::{
    Diagnostic, Form, Label, MemoryFiles, Step, Workflow,
    parse::{Document, Layout, parse_stored, parse_with_layout},
};

/// Looks for mistakes that the parser lets pass, in the order of the files' lines.
///
/// Most are warnings. Those that would stop a run once it gets there are errors.
pub fn lint(workflow: &Workflow) -> Vec<Diagnostic> {
    let files = MemoryFiles(workflow.source.files.clone());
    if workflow.form == Form::Graph {
        // The parser itself refuses most of what is looked for here, and has warned of the rest.
        let mut found = parse_stored(&workflow.name, &files).map(|(_, it)| it).unwrap_or_default();
        found.extend(gates::check(&Places { workflow, layout: Layout::default() }));
        return found;
    }
    // Only for the places: a workflow that was put together by hand has none.
    let layout = parse_with_layout(&workflow.name, &files).map(|(_, it)| it).unwrap_or_default();
    let places = Places { workflow, layout };
    let mut diagnostics = items::check(&places);
    diagnostics.extend(places.layout.lost.iter().cloned());
    diagnostics.extend(graph::check(&places));
    diagnostics.extend(gates::check(&places));
    diagnostics.extend(guidance::check(&places));
    diagnostics.extend(guidance::check_placeholders(&places));
    diagnostics.extend(artifacts::check(&places));
    diagnostics.extend(conditions::check(&places));
    diagnostics.extend(context::check(&places));
    let index = format!("{}/index.md", workflow.name);
    let rank = |file: &str| match workflow.steps.iter().position(|it| it.file == file) {
        _ if file == index => 0,
        Some(step) => step + 1,
        None => usize::MAX,
    };
    diagnostics.sort_by_cached_key(|it| (rank(&it.label.file), it.label.line, it.label.column));
    diagnostics
}

/// Returns where the front matter of a step says `key`.
pub fn find_label(workflow: &Workflow, step: &Step, key: &str) -> Label {
    let files = MemoryFiles(workflow.source.files.clone());
    let layout = parse_with_layout(&workflow.name, &files).map(|(_, it)| it).unwrap_or_default();
    let place = workflow.steps.iter().position(|it| it.name == step.name);
    let document = place.and_then(|it| layout.steps.get(it));
    document.map_or_else(|| Label::whole(&step.file), |it| it.front_label(&[key]))
}

/// A workflow, and where everything in it is written.
struct Places<'a> {
    workflow: &'a Workflow,
    layout: Layout,
}

/// Whose front matter is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Index,
    /// That of the step at this place in the list.
    Step(usize),
}

impl Places<'_> {
    /// Returns where a step's front matter says what `path` leads to.
    fn front(&self, step: usize, path: &[&str]) -> Label {
        self.document(step).map_or_else(|| self.whole(step), |it| it.front_label(path))
    }

    /// Returns where a front matter says what `path` leads to, narrowed to a piece of the text that
    /// stands there, in bytes.
    fn within(&self, at: Spot, path: &[&str], (start, width): (usize, usize)) -> Label {
        let document = match at {
            Spot::Index => Some(&self.layout.index),
            Spot::Step(step) => self.document(step),
        };
        let whole = || match at {
            Spot::Index => self.whole_index(),
            Spot::Step(step) => self.whole(step),
        };
        document.map_or_else(whole, |it| it.front_label_within(path, start, width))
    }

    /// Returns where the index links to a step.
    fn link(&self, step: usize) -> Label {
        let name = self.workflow.steps.get(step).map(|it| &it.name);
        let link = self.layout.links.iter().find(|it| it.name.as_ref() == name);
        link.map_or_else(
            || self.whole_index(),
            |it| self.layout.index.body_label(it.start, it.width),
        )
    }

    fn document(&self, step: usize) -> Option<&Document> {
        self.layout.steps.get(step)
    }

    fn whole_index(&self) -> Label {
        Label::whole(format!("{}/index.md", self.workflow.name))
    }

    fn whole(&self, step: usize) -> Label {
        Label::whole(self.workflow.steps.get(step).map_or("", |it| &it.file))
    }
}
