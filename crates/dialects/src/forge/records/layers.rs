//! What agents are told of the past and of the repository, as far as it is known.

use super::{
    super::{
        place,
        prompt::{Friction, History, Pattern, Similar},
    },
    library::Specs,
    patterns, profile,
};
use crate::kit::{Caller, Seeing};

/// How many past pipelines are looked for.
const SIMILAR_MAX: usize = 3;

/// What is known besides the assignment.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// Without the findings and the task of the agent at hand, which its sender knows.
    pub history: History,
    /// A line a fact.
    pub profile: String,
}

/// Finds what is known for a pipeline of this name. Whatever cannot be read is left out: an agent
/// can do without.
pub fn past(caller: &Caller, spec_name: &str) -> Seeing<Past> {
    let (specs, spec_name) = (Specs::of(caller), spec_name.to_owned());
    let (patterns, profile) = (patterns::load(&place::specs(caller)), profile::profile(caller));
    specs.clone().runs().then(move |library| {
        let similar = library.map(|it| it.lock().search(&spec_name, SIMILAR_MAX));
        patterns.then(move |patterns| {
            specs.friction().then(move |friction| {
                let friction = friction.unwrap_or_default().friction_points;
                let history = History {
                    similar: similar.unwrap_or_default().into_iter().map(similar_to).collect(),
                    patterns: patterns.patterns.into_iter().map(pattern).collect(),
                    friction: friction.into_iter().map(point).collect(),
                    ..History::default()
                };
                profile.map(move |profile| {
                    let lines = profile.lines().into_iter();
                    let lines: Vec<String> =
                        lines.map(|(name, text)| format!("{name}: {text}")).collect();
                    Past { history, profile: lines.join("\n") }
                })
            })
        })
    })
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
