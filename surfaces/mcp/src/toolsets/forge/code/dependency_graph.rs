//! `dependency_graph`: which file of a project imports which.

use insight::code::{Edge, Graph};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ANSWER_BYTES_MAX, NARROW,
    looking::{Gathered, look_at_project},
    place,
};
use crate::{
    tool::{Call, Done, Hints},
    toolsets::forge::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
};

pub(super) struct DependencyGraph;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for DependencyGraph {
    type Parameters = Parameters;
    const NAME: &'static str = "dependency_graph";
    const TITLE: &'static str = "Graph of imports";
    const DESCRIPTION: &'static str = "Returns which files below a folder import which of them. \
        Vendored and ignored folders are left out.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let root = Folder::named(call, place::filled("root_path", &parameters.root_path)?);
        let language = place::language(&parameters.language)?;
        let Gathered { graph, skipped, is_cut } =
            look_at_project(call, &root, language, None).await?;
        let shown = graph.shown(ANSWER_BYTES_MAX);
        let is_cut = is_cut || shown.nodes.len() < graph.nodes().len();
        let line = |Edge { from, to }| Line { from, to };
        let told = Told {
            root: root.as_str(),
            lang: language.name(),
            nodes: shown.nodes,
            edges: shown.edges.into_iter().map(line).collect(),
            rest: Rest {
                skipped: Some(skipped).filter(|it| 0 < *it),
                cut: is_cut.then(|| Cut::of(&graph)),
            },
        };
        Ok(Answer::json(&told).into())
    }
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
