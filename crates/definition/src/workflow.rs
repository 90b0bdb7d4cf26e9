//! A workflow: what its `index.md` says, and its steps.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Action, Chore, Digest, Expression, FINISH, Guards, Hasher, Move, Pattern, Rule, Schema, Source,
    Step, StepName, Template, WorkflowName,
    check::{mentioned_steps, mentions_end},
    fill_inputs,
    inputs::INPUTS,
};

/// A workflow, parsed and ready to run.
#[derive(Debug, Clone)]
pub struct Workflow {
    pub name: WorkflowName,
    pub title: String,
    /// The text under `# Goal`, else the text before the first step link.
    pub goal: String,
    pub version: Option<String>,
    /// Which version of the definition language it is written in.
    pub language: u32,
    /// Who chooses the next step. `None` where the index does not say.
    pub decider: Option<Decider>,
    /// What a run's own key must look like. `None`: runs have no key unless one is given.
    pub key: Option<Pattern>,
    /// What the start context must look like.
    pub params: Option<Schema>,
    pub vars: BTreeMap<String, Var>,
    /// Constants for conditions, `settings.NAME`.
    pub settings: Map<String, Value>,
    pub flows: BTreeMap<String, Flow>,
    /// The flow of a run that names none.
    pub flow: Option<String>,
    pub limits: Limits,
    /// The steps that a run is confined to.
    pub stretch: Stretch,
    /// What a run may spend before a person is asked.
    pub budget: Option<Budget>,
    /// Which answers count at gates that do not say it themselves.
    pub answers: Answers,
    pub ends: Ends,
    pub choices: Choices,
    /// Whether notes make up a journal, which can be put into an archive.
    pub journal: bool,
    /// The longest that an argument of a move may be, in bytes, by name.
    pub args: BTreeMap<String, u32>,
    /// In the order they are written.
    pub moves: Vec<Move>,
    /// In the order they are written, which is the order they fire in.
    pub rules: Vec<Rule>,
    /// What the server itself does, in the order they are written.
    pub chores: Vec<Chore>,
    /// What is done when a run is begun from a file.
    pub adopt: Vec<Action>,
    pub form: Form,
    /// What a graph takes from anyone who starts it, in the order it is written.
    pub inputs: Vec<Input>,
    /// The steps, in the order of their links. A step called `FINISH` is among them.
    pub steps: Vec<Step>,
    /// The index with its includes resolved and its front matter removed.
    pub index: String,
    /// Every file the definition was made from. Stored with each run.
    pub source: Source,
    /// Over `source` and the version of the language that it is written in.
    pub digest: Digest,
    /// What the gates guard, once it was asked for.
    pub(crate) guards: OnceLock<Guards>,
}

/// Who chooses the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The definition: `next` with its conditions, else the listed order.
    Declared,
    /// The calling agent, among the allowed steps.
    Client,
    /// A language model.
    Ai,
}

/// Which steps an agent that decides may choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choices {
    /// Those that `next` lists, and the same step again; all where it lists none.
    #[default]
    Open,
    /// Only those that `next` lists. Where that is only the end, there is no choice.
    Listed,
}

/// What a definition is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// A folder of Markdown.
    #[default]
    Folder,
    /// A graph in one YAML file.
    Graph,
}

/// What a graph takes from anyone who starts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    pub name: String,
    /// As it is written: `string`, `boolean`, `integer`, `number`, `array` or anything else.
    pub kind: String,
    pub description: String,
    pub is_required: bool,
    pub default: Option<Value>,
}

/// Which answers count at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// Only what a person said by a way that an agent cannot take.
    Verified,
    /// Also what the agent says that a person said.
    Relayed,
}

/// A named set of steps that a run leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flow {
    pub skips: BTreeSet<StepName>,
}

/// A variable of the workflow's own, kept for each run: `vars.NAME` in conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Var {
    pub kind: VarKind,
    pub default: Value,
    /// The only values it may have. Empty: any of its kind.
    pub one_of: Vec<Value>,
}

/// The type of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VarKind {
    Boolean,
    Integer,
    Number,
    String,
    List,
    Object,
}

/// How much of anything a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often one step may be entered before the run asks a person whether it goes in circles.
    pub visits_max: u32,
}

/// `from` and `until`: the steps that a run is confined to. Each names a step for a run, or is empty.
#[derive(Debug, Clone, Default)]
pub struct Stretch {
    /// The step that a run begins with, in place of the first.
    pub from: Option<Expression>,
    /// The step that a run ends after, in place of the last.
    pub until: Option<Expression>,
}

/// `limits`: what a run may spend before a person is asked whether it goes on.
#[derive(Debug, Clone)]
pub struct Budget {
    /// How many tokens. Nothing, or zero: as many as it takes.
    pub tokens: Option<Expression>,
    /// How much money, where tokens have prices.
    pub money: Option<Money>,
    /// What the person is asked, if the definition has its own words for it.
    pub ask: Option<Template>,
}

/// What a run may cost.
#[derive(Debug, Clone)]
pub struct Money {
    /// How much. Nothing, or zero: as much as it takes.
    pub max: Expression,
    /// What one token costs, by the name of its model; `*` is any other.
    pub prices: Expression,
}

/// How a run may end, and what an ended run still holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ends {
    /// Whether a caller may complete the run before every step is done.
    pub early: bool,
    /// The ends after which the run's key stays its own: no new run may begin with it.
    pub keep_key: BTreeSet<End>,
}

/// A way for a run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Completed,
    Failed,
    Cancelled,
}

impl Default for Limits {
    fn default() -> Self {
        Self { visits_max: 25 }
    }
}

impl Workflow {
    /// A workflow of which nothing is said but its name.
    pub(crate) fn plain(name: WorkflowName) -> Self {
        Self {
            title: name.to_string(),
            goal: String::new(),
            version: None,
            language: 1,
            decider: None,
            key: None,
            params: None,
            vars: BTreeMap::new(),
            settings: Map::new(),
            flows: BTreeMap::new(),
            flow: None,
            limits: Limits::default(),
            stretch: Stretch::default(),
            budget: None,
            answers: Answers::Verified,
            ends: Ends::default(),
            choices: Choices::default(),
            journal: false,
            args: BTreeMap::new(),
            moves: Vec::new(),
            rules: Vec::new(),
            chores: Vec::new(),
            adopt: Vec::new(),
            form: Form::default(),
            inputs: Vec::new(),
            steps: Vec::new(),
            index: String::new(),
            source: Source::default(),
            digest: Digest::of(&[]),
            guards: OnceLock::new(),
            name,
        }
    }

    /// Sets the files that the workflow was made from, and the digest over them.
    pub(crate) fn set_source(&mut self, source: Source) {
        let start = Hasher::default().field(self.language.to_le_bytes()).field(self.name.as_str());
        let files = source.files.iter();
        let whole = files.fold(start, |hasher, (path, text)| hasher.field(path).field(text));
        (self.source, self.digest) = (source, whole.finish());
    }

    /// Returns the step called `name`, if the workflow has one.
    pub fn find_step(&self, name: &StepName) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == *name)
    }

    /// Returns the move called `name`, if the workflow has one.
    pub fn find_move(&self, name: &str) -> Option<&Move> {
        self.moves.iter().find(|it| it.name == name)
    }

    /// Returns the chore called `name`, if the workflow has one.
    pub fn find_chore(&self, name: &str) -> Option<&Chore> {
        self.chores.iter().find(|it| it.name == name)
    }

    /// Returns whether the guidance of `step` names `other`, where its guidance is its only rule.
    pub fn mentions_step(&self, step: &Step, other: &StepName) -> bool {
        let named = || mentioned_steps(self, step).into_iter().filter_map(|it| self.steps.get(it));
        step.next.is_empty() && named().any(|it| it.name == *other)
    }

    /// Returns whether the guidance of `step` names the end, where its guidance is its only rule.
    pub fn mentions_finish(&self, step: &Step) -> bool {
        step.next.is_empty() && mentions_end(step)
    }

    /// Returns what the gates guard.
    pub fn guards(&self) -> &Guards {
        self.guards.get_or_init(|| Guards::of(self))
    }

    /// Returns the steps that are worked on: all but one called `FINISH`.
    pub fn work_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.name.as_str() != FINISH)
    }

    /// Returns the step that a run begins with. A parsed workflow has one.
    pub fn first_step(&self) -> Option<&Step> {
        self.work_steps().next()
    }

    /// Returns whether only the guidance of a step says what follows it, and names another step than
    /// the one listed next, or the end before the last: anyone who reads the guidance has to choose.
    pub fn leaves_choice(&self, step: &Step) -> bool {
        if self.decider.is_some() || !step.next.is_empty() {
            return false;
        }
        let following = self.find_following(&step.name).map(|it| &it.name);
        let mentioned = mentioned_steps(self, step).into_iter();
        let mut named = mentioned.filter_map(|at| self.steps.get(at)).map(|it| &it.name);
        named.any(|it| *it != step.name && Some(it) != following)
            || (following.is_some() && mentions_end(step))
    }

    /// Returns the step listed after `name`, or `None` after the last.
    pub fn find_following(&self, name: &StepName) -> Option<&Step> {
        self.work_steps().skip_while(|step| step.name != *name).nth(1)
    }

    /// Returns what an agent is told to do at a step of a run with this context. The nodes of a
    /// graph say it with their goals, and name inputs.
    pub fn instructions<'a>(&self, step: &'a Step, context: &Map<String, Value>) -> Cow<'a, str> {
        match self.form {
            Form::Folder => Cow::Borrowed(&step.instructions),
            Form::Graph => self.fill(&step.text, context),
        }
    }

    /// Returns a text of a graph with the inputs of a run with this context.
    pub fn fill<'a>(&self, text: &'a str, context: &Map<String, Value>) -> Cow<'a, str> {
        match (self.form, context.get(INPUTS).and_then(Value::as_object)) {
            (Form::Graph, Some(inputs)) => Cow::Owned(fill_inputs(text, inputs)),
            (Form::Folder, _) | (Form::Graph, None) => Cow::Borrowed(text),
        }
    }

    /// Returns the closing instructions, if the workflow has a step called `FINISH`.
    pub fn finish_instructions(&self) -> Option<&str> {
        let finish = self.steps.iter().find(|step| step.name.as_str() == FINISH)?;
        Some(&finish.instructions)
    }

    /// Returns the one step whose name is `text`, exactly or else loosely (see
    /// [`StepName::folded`]); `None` if no step or several fit.
    pub fn find_step_loosely(&self, text: &str) -> Option<&Step> {
        if let Some(step) = self.steps.iter().find(|step| step.name.as_str() == text) {
            return Some(step);
        }
        let wanted = StepName::parse(text).ok()?.folded();
        let mut fitting = self.steps.iter().filter(|step| step.name.folded() == wanted);
        let found = fitting.next()?;
        fitting.next().is_none().then_some(found)
    }
}
