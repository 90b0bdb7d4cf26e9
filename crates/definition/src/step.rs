//! A step: its two texts, and the rules on entering and leaving it.
//!
//! Each type here is one key of a step's front matter; `docs/guide/writing-workflows.md` shows how
//! it is written.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Action, Answers, Condition, Expression, Moments, PartId, Pattern, Schema, StepName, Template,
};

/// One step of a workflow.
#[derive(Debug, Clone)]
pub struct Step {
    pub name: StepName,
    pub title: String,
    /// The text under `# Goal`, or empty.
    pub goal: String,
    /// `# Orchestrator Guidance`: for anyone who decides what comes next.
    pub guidance: String,
    /// `# Client Instructions`: for the agent that does the work.
    pub instructions: String,
    /// The whole file, includes resolved, front matter removed.
    pub text: String,
    /// Where the text came from, relative to the definitions folder.
    pub file: String,
    /// The kind of agent the step is meant for.
    pub agent: Option<Template>,
    pub work: Work,
    pub needs: Vec<Need>,
    pub produces: Vec<Product>,
    pub criteria: Vec<Criterion>,
    pub evidence: Evidence,
    /// Commands that the server runs itself before the step may be left.
    pub checks: Vec<CommandCheck>,
    pub gate: Option<Gate>,
    /// What a project asks of the parts that the step plans.
    pub rules: Option<Rules>,
    pub review: Option<Review>,
    pub each: Option<Each>,
    pub attempts: Option<Attempts>,
    /// Where to go from here, first fitting one first. Empty: the step listed next.
    pub next: Vec<Successor>,
    /// What is done by itself when the step is entered, done or sent back.
    pub on: Moments,
    /// Names of other workflows that may be run from here, before this run continues.
    pub workflows: Vec<String>,
    pub skip_when: Option<Condition>,
    /// How long a claim on the step lasts without a heartbeat.
    pub lease: Option<Duration>,
    pub timeout: Option<Timeout>,
}

/// Who does a step's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Work {
    /// An agent, which reports when it is done.
    #[default]
    Agent,
    /// There is no work: the step is only its gate, or only a place to route from.
    None,
}

/// `needs`: a file that must be there before the step may be begun or completed.
#[derive(Debug, Clone)]
pub struct Need {
    pub path: Template,
    pub when: Option<Condition>,
    pub presence: Presence,
}

/// What it means that a file is not there which a step is worked on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Presence {
    /// The step may not be begun.
    #[default]
    Required,
    /// Nothing: the file is still named to the agent.
    Optional,
    /// Nothing, and the file is not mentioned.
    Found,
}

/// `produces`: a file that the step must leave behind, and what must be true of it.
#[derive(Debug, Clone)]
pub struct Product {
    pub path: Template,
    pub checks: Vec<Check>,
    pub when: Option<Condition>,
}

/// A condition on the text of an artifact.
#[derive(Debug, Clone)]
pub enum Check {
    /// Something other than white space is in it.
    NotEmpty,
    /// A Markdown heading with this text is in it. A text that begins with `#` fixes the level,
    /// and one that ends with a space or is only `#`s fits every heading that begins so.
    Heading(String),
    /// Something in it fits the pattern; where the author says what is wanted, agents read that.
    Matches(Pattern, Option<String>),
    /// It is JSON, and fits.
    Schema(Schema),
    Words {
        min: Option<u64>,
        max: Option<u64>,
    },
    /// It names all that another file lists: what the pattern finds there, or its first group.
    Covers {
        file: Template,
        pattern: Pattern,
    },
    /// Its verdict is none of these words.
    Rejects(Vec<String>),
    /// It is a plan whose parts can be read and fit together.
    Parts,
}

/// `criteria`: what must be shown to be true when the step is reported done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub key: String,
    pub text: String,
}

/// What a criterion without evidence leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The report is refused.
    Strict,
    #[default]
    Warn,
    Off,
}

/// `checks`: a command that must end with exit code 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandCheck {
    /// The program and its arguments. No shell is involved.
    pub run: Vec<String>,
    pub timeout: Duration,
}

/// `gate`: a wait for a person, once the step's work is done.
#[derive(Debug, Clone)]
pub struct Gate {
    /// What the person is asked.
    pub ask: Template,
    /// Files the person is to look at. Empty: whatever the step produces.
    pub show: Vec<Template>,
    /// The answers, in the order they are offered.
    pub options: Vec<GateOption>,
    /// `None`: as the workflow says.
    pub answers: Option<Answers>,
    /// The person is asked as soon as this holds, and until it does not. `None`: once the work was
    /// reported.
    pub during: Option<Condition>,
    /// When this holds, the gate is skipped.
    pub unless: Option<Condition>,
    /// The review that must have approved for `unless` to count.
    pub reviewed: Option<StepName>,
    /// While this holds, no answer lets the run go on.
    pub holds: Option<Condition>,
    /// What a person's own answer is about: it counts while this reads as it did then.
    pub about: Option<Template>,
    /// How often a person may send the work back before only the other answers are left.
    pub rounds_max: Option<u32>,
    /// Whether a person may be asked before the run has come to the step.
    pub ahead: bool,
}

/// One answer that a person may give at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOption {
    pub name: String,
    pub effect: Effect,
}

/// What an answer at a gate does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The step is done.
    Approve,
    /// The named step is worked on again, with the person's feedback.
    Back(StepName),
    /// The step is left without being done.
    Skip,
    Fail,
    Cancel,
}

/// `review.rules`: the parts in a file of the step are held against the rules in a file beside the run's
/// folder, if there is one. Where they break any, the step is worked on again.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The name of the file with the rules, beside the run's folder.
    pub beside: String,
    /// The file with the parts.
    pub parts: Template,
    /// The file that says what is wrong, written by the server.
    pub note: Template,
    /// The variable that the verdicts are counted in.
    pub count: Option<String>,
    /// After how many of them a person is asked.
    pub after: u32,
}

/// `review`: the step judges another one's work, and its verdict decides where to go.
#[derive(Debug, Clone)]
pub struct Review {
    /// The step whose work is judged, and which is worked on again after `revise`.
    pub of: StepName,
    /// The file whose `Verdict:` counts. `None`: the word in the report (`verdict` in `details` or
    /// `result`).
    pub read: Option<Template>,
    /// The file that is judged. A verdict to revise what was changed since counts for nothing.
    pub judges: Option<Template>,
    /// The variable that the verdicts to revise are counted in. `None`: each run counts for itself.
    pub count: Option<String>,
    pub approve: Vec<String>,
    pub revise: Vec<String>,
    pub unknown: Unknown,
    /// What happens after so many `revise` verdicts. The highest one that is reached counts.
    pub limits: Vec<Limit>,
    /// The file beside the run's folder whose rules the parts that are judged must keep.
    pub rules: Option<String>,
}

/// What a review without a known verdict leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// The report is refused, and says which words are known.
    #[default]
    Refuse,
    /// A person is asked.
    Ask,
}

/// What a spent allowance leads to: after `after` times, `then`.
#[derive(Debug, Clone)]
pub struct Limit {
    pub after: u32,
    pub then: Spent,
    /// What is done when it applies.
    pub actions: Vec<Action>,
}

/// What happens when an allowance is spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spent {
    /// A person is asked: go on, or cancel.
    Ask,
    /// As if the verdict had been to approve.
    Approve,
    /// The run fails.
    Fail,
    /// It goes on, with a warning in the answer.
    Warn,
    /// The run goes to this step.
    Goto(StepName),
}

/// `attempts`: how often a step may be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempts {
    pub max: u32,
    pub then: Spent,
}

/// `timeout`: how long an attempt may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeout {
    pub after: Duration,
}

/// `next`: a step that may follow, and when.
#[derive(Debug, Clone)]
pub struct Successor {
    pub to: Target,
    pub when: Option<Condition>,
    /// What is done on the way.
    pub actions: Vec<Action>,
    /// The run ends as failed, standing at `to`.
    pub fails: bool,
}

/// Where a successor leads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Step(StepName),
    /// The run is completed.
    Finish,
}

/// `each`: the step is worked on once for each part of a set.
#[derive(Debug, Clone)]
pub struct Each {
    /// The name of the set. Steps that name the same set share its parts.
    pub parts: String,
    pub from: PartSource,
    pub order: Order,
    /// The parts that this step is for. The others are left out here.
    pub only: Option<Condition>,
    /// Whether the step may also be begun and reported as a whole.
    pub whole: Whole,
    /// When what `otherwise` says counts. `None`: whenever the file is not there.
    pub otherwise_when: Option<Condition>,
    /// Whether parts that are known stay as they are, whatever their source says by now.
    pub keeps: bool,
}

/// Where the parts of a set come from.
#[derive(Debug, Clone)]
pub enum PartSource {
    /// An earlier step with the same set planned them.
    Shared,
    /// Written in the definition.
    Listed(Vec<PartSpec>),
    /// Sections `## WORD ID: title` of a file.
    File { path: Template, otherwise: Otherwise },
    /// A list in the context: of names, or of objects with `id`, `title`, `mode`, `after`.
    Context(Expression),
}

/// What is done where there is no file to take the parts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Otherwise {
    /// Nothing: it must be there.
    Refused,
    Parts(Vec<PartSpec>),
    /// The agent is to write this there first.
    Text(String),
}

/// What a report on a fanned-out step means that names no part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whole {
    /// Nothing, unless only one part is left.
    #[default]
    Refused,
    /// All parts are done.
    All,
    /// The parts whose files are there are done.
    Found,
}

/// In which order parts are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// All at once.
    Parallel,
    /// One after the other.
    Sequence,
    /// As each part's `mode` and `depends_on` say.
    #[default]
    Declared,
}

/// A part as it was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpec {
    pub id: PartId,
    #[serde(default)]
    pub title: String,
    /// `sequential`, `parallel` or `human_gate`; other words count as `sequential`.
    #[serde(default)]
    pub mode: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The parts that must be done before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<PartId>,
}

impl PartSpec {
    /// The `mode` of a part that a person does.
    pub const HUMAN_GATE: &str = "human_gate";
}

impl Gate {
    /// A gate that asks whether a step is approved, or worked on again.
    pub(crate) fn plain(ask: Template, step: &StepName) -> Self {
        let option = |name: &str, effect| GateOption { name: name.to_owned(), effect };
        Self {
            ask,
            show: Vec::new(),
            options: vec![
                option("approve", Effect::Approve),
                option("reject", Effect::Back(step.clone())),
            ],
            answers: None,
            during: None,
            unless: None,
            reviewed: None,
            holds: None,
            about: None,
            rounds_max: None,
            ahead: true,
        }
    }
}

impl Review {
    /// Returns every word that a verdict can be.
    pub fn words(&self) -> Vec<&str> {
        self.approve.iter().chain(&self.revise).map(String::as_str).collect()
    }
}

impl Step {
    /// A step of which nothing is said but its name.
    pub(crate) fn plain(name: StepName) -> Self {
        Self {
            title: name.to_string(),
            name,
            goal: String::new(),
            guidance: String::new(),
            instructions: String::new(),
            text: String::new(),
            file: String::new(),
            agent: None,
            work: Work::default(),
            needs: Vec::new(),
            produces: Vec::new(),
            criteria: Vec::new(),
            evidence: Evidence::default(),
            checks: Vec::new(),
            gate: None,
            rules: None,
            review: None,
            each: None,
            attempts: None,
            next: Vec::new(),
            on: Moments::default(),
            workflows: Vec::new(),
            skip_when: None,
            lease: None,
            timeout: None,
        }
    }

    /// Returns what the report must show evidence for but does not, in the order it is written.
    pub fn missing_evidence<'a>(&'a self, given: &'a Value) -> impl Iterator<Item = &'a Criterion> {
        self.criteria.iter().filter(|criterion| {
            let evidence = given.get(&criterion.key);
            !evidence.is_some_and(|it| !it.is_null() && it.as_str() != Some(""))
        })
    }
}
