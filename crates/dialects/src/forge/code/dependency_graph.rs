//! `dependency_graph`: which file of a project imports which.

use insight::code::{Edge, Graph};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    ANSWER_BYTES_MAX, NARROW, language,
    looking::{Gathered, Scope, look_at_project},
};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DependencyGraph {
    /// Folder: absolute, or from the project's root.
    root_path: String,
    /// go, typescript, python, bash or rust.
    language: String,
}

/// The graph as it is told.
#[derive(Serialize)]
struct Told<'a> {
    root: &'a str,
    lang: &'a str,
    nodes: &'a [String],
    edges: Vec<Line<'a>>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Serialize)]
struct Line<'a> {
    from: &'a str,
    to: &'a str,
}

/// What is not told, where there is anything.
#[derive(Default, Serialize)]
struct Rest {
    /// Files that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<usize>,
    #[serde(flatten)]
    cut: Option<Cut>,
}

#[derive(Serialize)]
struct Cut {
    truncated: bool,
    nodes_total: usize,
    edges_total: usize,
    note: &'static str,
}

impl Tool for DependencyGraph {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "dependency_graph";
    const TITLE: &'static str = "Graph of imports";
    const DESCRIPTION: &'static str = "Returns which files below a folder import which of them. \
        Vendored and ignored folders are left out.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let root = place::named(caller, language::filled("root_path", &self.root_path)?);
        let language = language::language(&self.language)?;
        let scope = Scope { project: place::project(caller), root, language };
        let gathered = look_at_project(scope.clone(), None);
        Ok(gathered.then(move |it| Self::tell(it.map(|it| answer(&scope, &it))).into()))
    }
}

fn answer(scope: &Scope, gathered: &Gathered) -> Answer {
    let Gathered { graph, skipped, is_cut } = gathered;
    let shown = graph.shown(ANSWER_BYTES_MAX);
    let is_cut = *is_cut || shown.nodes.len() < graph.nodes().len();
    let line = |Edge { from, to }| Line { from, to };
    Answer::json(&Told {
        root: scope.root.as_str(),
        lang: scope.language.name(),
        nodes: shown.nodes,
        edges: shown.edges.into_iter().map(line).collect(),
        rest: Rest {
            skipped: Some(*skipped).filter(|it| 0 < *it),
            cut: is_cut.then(|| Cut::of(graph)),
        },
    })
}

impl Cut {
    fn of(graph: &Graph) -> Self {
        Self {
            truncated: true,
            nodes_total: graph.nodes().len(),
            edges_total: graph.edges_len(),
            note: NARROW,
        }
    }
}
