//! What agents are told of past pipelines: which agent hears of what, and how it is put.

use insight::past::normalise;

use super::words;

/// How many patterns an agent is told at most.
const PATTERNS_MAX: usize = 20;
/// How many past pipelines an agent is told of at most.
const SIMILAR_MAX: usize = 3;

/// How many friction points an agent is told of that have nothing to do with its task and came up
/// once, where there are no others.
const FRICTION_ANYWAY: usize = 3;

/// What is known of the past. Everything comes in the order in which it is kept.
#[derive(Debug, Clone, Default)]
pub struct History {
    pub similar: Vec<Similar>,
    pub patterns: Vec<Pattern>,
    pub friction: Vec<Friction>,
    /// What the review says that the agent is to answer: it reads that itself.
    pub findings: Vec<String>,
    /// The task that is reviewed.
    pub task: Option<Task>,
}

/// A past pipeline like this one.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    pub name: String,
    pub one_liner: String,
    pub similarity: f64,
}

/// Something that reviews keep finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub pattern: String,
    pub severity: String,
    pub frequency: u64,
    pub agent: String,
}

/// Something that agents keep stumbling over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Friction {
    pub category: String,
    pub description: String,
    pub mitigation: String,
    pub frequency: u64,
}

/// What a task is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    pub title: String,
    pub files: Vec<String>,
}

/// What one agent hears of the past.
struct Hears {
    agent: &'static str,
    has_similar: bool,
    patterns: Patterns,
    has_friction: bool,
}

/// Which patterns an agent hears of.
enum Patterns {
    All,
    Critical,
    /// The critical ones that the review does not say anyway.
    CriticalUnsaid,
    /// Those that have a word in common with the task.
    OfTask,
}

/// Who hears of what. Agents that are not here hear nothing of the past.
const HEARS: [Hears; 4] = [
    Hears {
        agent: "architect",
        has_similar: true,
        patterns: Patterns::CriticalUnsaid,
        has_friction: false,
    },
    Hears {
        agent: "task-decomposer",
        has_similar: true,
        patterns: Patterns::All,
        has_friction: false,
    },
    Hears {
        agent: "implementer",
        has_similar: false,
        patterns: Patterns::Critical,
        has_friction: true,
    },
    Hears {
        agent: "impl-reviewer",
        has_similar: false,
        patterns: Patterns::OfTask,
        has_friction: true,
    },
];

impl History {
    /// Returns what an agent is told of it.
    pub(super) fn for_agent(self, agent: &str, friction_bytes_max: usize) -> Told {
        let Some(hears) = HEARS.iter().find(|it| it.agent == agent) else {
            return Told::default();
        };
        let patterns = self.patterns_for(hears);
        let friction =
            if hears.has_friction { self.friction_within(friction_bytes_max) } else { Vec::new() };
        let similar = if hears.has_similar { self.similar } else { Vec::new() };
        Told {
            similar: similar.iter().take(SIMILAR_MAX).map(Similar::to_line).collect(),
            patterns,
            friction,
        }
    }

    /// Returns what made work hard and has to do with the task, then what did so again and again, as
    /// far as there is room. Where there is neither, the first few.
    fn friction_within(&self, bytes_max: usize) -> Vec<String> {
        let about = self.task.as_ref().map(Task::tokens).unwrap_or_default();
        let shared = |it: &Friction| {
            let words = words::tokens(&format!("{} {}", it.description, it.mitigation));
            words.intersection(&about).count()
        };
        let mut ranked: Vec<(usize, &Friction)> =
            self.friction.iter().map(|it| (shared(it), it)).collect();
        ranked.sort_by_key(|(shared, it)| std::cmp::Reverse((*shared, it.frequency)));
        let telling = ranked.iter().filter(|(shared, it)| 0 < *shared || 1 < it.frequency).count();
        ranked.truncate(if telling == 0 { FRICTION_ANYWAY } else { telling });
        let lines = ranked.into_iter().map(|(_, it)| it.to_line());
        let mut left = bytes_max;
        let fitting = lines.map_while(|line| {
            left = left.checked_sub(line.len() + 1)?;
            Some(line)
        });
        fitting.collect()
    }

    fn patterns_for(&self, hears: &Hears) -> Vec<String> {
        let known: Vec<String> = self.findings.iter().map(|it| normalise(it)).collect();
        let about = self.task.as_ref().map(Task::tokens).unwrap_or_default();
        let is_told = |it: &&Pattern| match hears.patterns {
            Patterns::All => true,
            Patterns::Critical => it.is_critical(),
            Patterns::CriticalUnsaid => {
                it.is_critical() && !known.contains(&normalise(&it.pattern))
            }
            Patterns::OfTask => about.is_empty() || !about.is_disjoint(&words::tokens(&it.pattern)),
        };
        self.patterns.iter().filter(is_told).take(PATTERNS_MAX).map(Pattern::to_line).collect()
    }
}

impl Similar {
    fn to_line(&self) -> String {
        let (name, what) = (words::flat(&self.name), words::flat(&self.one_liner));
        format!("- {name}: {what} (similarity {:.2})", self.similarity)
    }
}

impl Pattern {
    fn is_critical(&self) -> bool {
        self.severity == "CRITICAL"
    }

    fn to_line(&self) -> String {
        let Self { pattern, severity, frequency, agent } = self;
        let times = if *frequency == 1 { "time" } else { "times" };
        let (pattern, agent) = (words::flat(pattern), words::flat(agent));
        format!("- [{severity}] \"{pattern}\" (seen {frequency} {times}, by {agent})")
    }
}

impl Friction {
    fn to_line(&self) -> String {
        let mut text =
            format!("- {}: {}", words::flat(&self.category), words::flat(&self.description));
        let way_out = words::flat(&self.mitigation);
        if !way_out.is_empty() {
            text.push_str(&format!(" (mitigation: {way_out})"));
        }
        text
    }
}

impl Task {
    fn tokens(&self) -> std::collections::BTreeSet<String> {
        let texts = self.files.iter().chain([&self.title]);
        texts.flat_map(|it| words::tokens(it)).collect()
    }
}

/// What an agent is told of the past, a line a thing.
#[derive(Debug, Default)]
pub(super) struct Told {
    similar: Vec<String>,
    patterns: Vec<String>,
    friction: Vec<String>,
}

impl Told {
    /// Returns the sections that have something to say.
    pub(super) fn sections(&self) -> impl Iterator<Item = String> {
        let all = [
            ("## Past Similar Pipelines", &self.similar),
            ("## Common Review Findings", &self.patterns),
            ("## Known AI Friction Points", &self.friction),
        ];
        let told = all.into_iter().filter(|(_, lines)| !lines.is_empty());
        told.map(|(heading, lines)| format!("{heading}\n\n{}", lines.join("\n")))
    }

    /// Leaves out what can be spared first, and returns whether there was anything.
    pub(super) fn drop_one(&mut self) -> bool {
        let in_turn = [&mut self.friction, &mut self.similar, &mut self.patterns];
        in_turn.into_iter().any(|it| it.pop().is_some())
    }
}
