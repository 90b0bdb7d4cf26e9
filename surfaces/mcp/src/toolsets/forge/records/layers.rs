//! What agents are told of the past and of the repository, as far as it is known.

use super::{
    super::{
        place::Folder,
        prompt::{Friction, History, Pattern, Similar},
    },
    friction, library, patterns, profile,
};
use crate::tool::Call;

/// How many past pipelines are looked for.
const SIMILAR_MAX: usize = 3;

/// What is known besides the assignment.
#[derive(Debug, Clone, Default)]
pub(in crate::toolsets::forge) struct Past {
    /// Without the findings and the task of the agent at hand, which its sender knows.
    pub(in crate::toolsets::forge) history: History,
    /// A line a fact.
    pub(in crate::toolsets::forge) profile: String,
}

/// Returns what is known for a pipeline of this name. Whatever cannot be read is left out: an agent
/// can do without.
pub(in crate::toolsets::forge) async fn past(call: &Call<'_>, spec_name: &str) -> Past {
    let specs = Folder::specs(call);
    let similar = match library::runs(call, &specs).await {
        Ok(library) => library.search(spec_name, SIMILAR_MAX),
        Err(_) => Vec::new(),
    };
    let patterns = patterns::load(call).await.patterns;
    let friction = friction::friction(call).await.unwrap_or_default().friction_points;
    let lines = profile::profile(call).await.lines().into_iter();
    let profile: Vec<String> = lines.map(|(name, text)| format!("{name}: {text}")).collect();
    let history = History {
        similar: similar.into_iter().map(similar_to).collect(),
        patterns: patterns.into_iter().map(pattern).collect(),
        friction: friction.into_iter().map(point).collect(),
        ..History::default()
    };
    Past { history, profile: profile.join("\n") }
}

fn similar_to((record, similarity): (insight::past::Record, f64)) -> Similar {
    Similar { name: record.spec_name, one_liner: record.one_liner, similarity }
}

fn pattern(it: insight::past::Pattern) -> Pattern {
    let insight::past::Pattern { pattern, severity, frequency, agent, .. } = it;
    Pattern { pattern, severity, frequency, agent }
}

fn point(it: insight::past::FrictionPoint) -> Friction {
    let insight::past::FrictionPoint { category, description, mitigation, frequency } = it;
    Friction { category, description, mitigation, frequency }
}
