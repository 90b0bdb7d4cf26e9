//! Reads the lines of a scenario, and has the engine decide them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use definition::{Answers, Digest, Evidence, PartId, StepName, Workflow};
use engine::{
    Action, Actor, Advance, Answer, AnswerGate, AtEnd, CheckFact, ChoreOutcome, ClaimStep,
    ClaimedProgress, Command, Consent, ContextChange, Done, Entry, Event, Fact, FileClaim,
    FileFact, GatePolicy, Git, GitDeed, Holder, How, Known, MakeMove, ModelFact, ModelFailure,
    ModelFailureKind, Needs, Onward, PartPlaced, Policy, Question, Recorded, Refusal, Report,
    ReportChore, ReportOptions, ReportStep, ResumeRun, Rigor, RunId, RunState, Standpoint,
    StartRun, StartStep, Stop, Timestamp, Usage, What, audit, decide, find_chore, find_drift,
    find_shown, fold, last_step, next, offers, target_name,
};
use serde_json::{Map, Value};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;

pub(crate) struct Player<'a> {
    workflow: &'a Workflow,
    state: RunState,
    log: Vec<Recorded>,
    files: BTreeMap<String, String>,
    checks: BTreeMap<String, i32>,
    now: Timestamp,
    steady: Timestamp,
    model: Option<Model>,
    /// The setting `gates.answers`.
    gates: Option<Answers>,
    policy: Policy,
    /// What is checked out, where there is a repository.
    branch: Option<String>,
}

/// A language model that says what the scenario has it say.
#[derive(Default)]
struct Model {
    is_strict: bool,
    replies: RefCell<VecDeque<ModelFact>>,
    /// What it was asked for the command that is played.
    asked: RefCell<Vec<Question>>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(workflow: &'a Workflow) -> Self {
        let run = RunId::from_bytes([7; 16]);
        Self {
            workflow,
            state: RunState::new(run),
            log: Vec::new(),
            files: BTreeMap::new(),
            checks: BTreeMap::new(),
            now: Timestamp(START),
            steady: Timestamp(START),
            model: None,
            gates: None,
            policy: Policy::default(),
            branch: None,
        }
    }

    /// Plays a line, and returns what it led to.
    pub(crate) fn play(&mut self, line: &str) -> Vec<String> {
        let words = split(line);
        let Some((first, rest)) = words.split_first() else { return Vec::new() };
        match first.as_str() {
            ">" => self.command(rest),
            "?" => self.ask(rest),
            "write" => {
                let text = rest.get(1).cloned().unwrap_or_default().replace("\\n", "\n");
                let pad = rest.get(2).and_then(|it| it.strip_prefix("pad="));
                let filler = pad.map_or_else(String::new, |it| filler(it.parse().unwrap()));
                self.files.insert(rest[0].clone(), text + &filler);
                Vec::new()
            }
            "remove" => {
                self.files.remove(&rest[0]);
                Vec::new()
            }
            "exit" => {
                self.checks.insert(rest[0].clone(), rest[1].parse().unwrap());
                Vec::new()
            }
            // Another run of the same workflow.
            "again" => {
                *self = Self::new(self.workflow);
                Vec::new()
            }
            "wait" => {
                self.pass(duration(&rest[0]));
                Vec::new()
            }
            "checkout" => {
                self.branch = Some(rest[0].clone());
                Vec::new()
            }
            // Only the wall clock moves.
            "jump" => {
                self.now = self.now.after(duration(&rest[0]));
                Vec::new()
            }
            "gates" => {
                self.gates = Some(match rest[0].as_str() {
                    "verified" => Answers::Verified,
                    "relayed" => Answers::Relayed,
                    other => panic!("gates cannot be `{other}`"),
                });
                Vec::new()
            }
            "policy" => {
                self.set_policy(rest);
                Vec::new()
            }
            "model" => {
                self.prepare_model(line, rest);
                Vec::new()
            }
            word if word.starts_with('#') => Vec::new(),
            word => panic!("unknown word `{word}`"),
        }
    }

    /// `policy evidence strict`, `policy NAME true`, `policy NAME VALUE`: what settings say.
    fn set_policy(&mut self, words: &[String]) {
        let (name, value) = (words[0].clone(), words[1].as_str());
        match (name.as_str(), value) {
            ("evidence", "strict") => self.policy.evidence = Some(Evidence::Strict),
            ("evidence", "off") => self.policy.evidence = Some(Evidence::Off),
            ("evidence", _) => self.policy.evidence = Some(Evidence::Warn),
            (_, "true" | "false") => drop(self.policy.approving.insert(name, value == "true")),
            _ => drop(self.policy.vars.insert(name, serde_json::from_str(value).unwrap())),
        }
    }

    /// `model says TEXT`, `model fails KIND MESSAGE`, `model strict`, `model gone`.
    fn prepare_model(&mut self, line: &str, words: &[String]) {
        let usage = Usage {
            model: "m".to_owned(),
            tokens_in: 100,
            tokens_out: 10,
            latency_ms: 5,
            tries: 1,
        };
        let model = self.model.get_or_insert_default();
        let mut replies = model.replies.borrow_mut();
        match words[0].as_str() {
            "says" => {
                let text = line.strip_prefix("model says ").unwrap_or_default().to_owned();
                replies.push_back(ModelFact::Replied { text, usage });
            }
            "fails" => {
                let kind = serde_json::from_value(Value::from(words[1].as_str()));
                let kind: ModelFailureKind = kind.unwrap();
                let failure = ModelFailure { kind, message: words[2].clone() };
                replies.push_back(ModelFact::Failed { failure, usage });
            }
            "strict" => model.is_strict = true,
            "gone" => {
                drop(replies);
                self.model = None;
            }
            other => panic!("a model cannot `{other}`"),
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now = self.now.after(duration);
        self.steady = self.steady.after(duration);
    }

    fn known(&self) -> Known {
        Known {
            now: self.now,
            steady: self.steady,
            has_model: self.model.is_some(),
            gates: self.gates,
            policy: self.policy.clone(),
            fail_on_model_error: self.model.as_ref().is_some_and(|it| it.is_strict),
            ..Known::default()
        }
    }

    /// Returns what the model was asked for, and forgets nothing of it.
    fn asked(&self) -> Vec<String> {
        let asked = self.model.iter().flat_map(|it| it.asked.borrow().clone());
        let names = asked.map(|it| match &it {
            Question::Model { names, .. } => format!("asked the model: {}", names.join(", ")),
            Question::File(_)
            | Question::Beside(_)
            | Question::Git
            | Question::Branch(_)
            | Question::Check { .. } => {
                panic!("no model is asked this: {it:?}")
            }
        });
        names.collect()
    }

    fn command(&mut self, words: &[String]) -> Vec<String> {
        self.pass(Duration::from_secs(1));
        let command = match words[0].as_str() {
            "chore" => self.chore(words),
            _ if words.iter().any(|it| it == "seen") => self.bound(parse_command(words)),
            _ => parse_command(words),
        };
        if words[0] == "move" {
            self.policy.is_lax = words.iter().any(|it| it == "lax");
        }
        let mut known = self.known();
        self.model.iter().for_each(|it| it.asked.borrow_mut().clear());
        let decided = loop {
            match decide(self.workflow, &self.state, &known, &command) {
                Ok(decided) => break decided,
                Err(Stop::Refused(refusal)) => return refused(&refusal),
                Err(Stop::Ask(questions)) => self.look(&mut known, questions),
            }
        };
        let first = self.state.length;
        let mut led = self.asked();
        for event in &decided.events {
            if let Event::FileLeft { path, text, .. } = event {
                match text {
                    Some(text) => drop(self.files.insert(path.clone(), text.clone())),
                    None => drop(self.files.remove(path)),
                }
            }
        }
        for (seq, event) in (first + 1..).zip(decided.events) {
            led.push(format!("{} {}", event.kind(), event.describe()));
            let stored = event.encode();
            let read = Event::decode(engine::EVENT_VERSION, &stored).unwrap();
            assert_eq!(read, event, "an event is read back as it was");
            let (at, steady) = (self.now, self.steady);
            self.log.push(Recorded { seq, at, steady, by: Actor::default(), event });
        }
        self.state = fold(self.state.run, &self.log);
        assert_eq!(self.state, decided.state, "a replay gives the state that was decided on");
        let found = audit(self.workflow, self.state.run, &self.log, self.gates);
        assert!(found.is_empty(), "{command:?} left the run where it must never be: {found:?}");
        if led.is_empty() {
            led.push("(nothing)".to_owned());
        }
        led.extend(decided.notes.iter().map(|it| format!("(noting {it:?})")));
        led.extend(decided.halted.map(|it| format!("(halted {}: {it})", it.code())));
        led
    }

    /// `approve seen`: the person has looked at what the gate shows now.
    fn bound(&self, command: Command) -> Command {
        let Command::AnswerGate(mut answer) = command else { panic!("{command:?}") };
        let mut known = self.known();
        answer.digest = loop {
            match find_shown(self.workflow, &self.state, &known) {
                Ok(shown) => break shown.map(|it| it.digest),
                Err(Stop::Ask(questions)) => self.look(&mut known, questions),
                Err(Stop::Refused(refusal)) => panic!("{refusal}"),
            }
        };
        Command::AnswerGate(answer)
    }

    /// `chore NAME done [DETAIL]`, `chore NAME failed REASON`: how the one that is due went.
    fn chore(&self, words: &[String]) -> Command {
        let due = find_chore(self.workflow, &self.state).unwrap();
        // `… then on`: the run goes on if it waited for it.
        let (said, then) = match words.get(3..).unwrap_or_default() {
            [said @ .., then, on] if then == "then" && on == "on" => {
                (said.join(" "), Some(Onward::default()))
            }
            said => (said.join(" "), None),
        };
        let outcome = match words[2].as_str() {
            "done" => ChoreOutcome::Done { detail: said, warnings: Vec::new(), pushed: None },
            "failed" => ChoreOutcome::Failed { reason: said },
            other => panic!("a chore cannot be `{other}`"),
        };
        // Where nothing is due, what is reported does not matter.
        let deed = due.map_or(
            GitDeed::Push {
                branch: String::new(),
                remote: String::new(),
                base: None,
                is_taken: false,
            },
            |it| it.deed,
        );
        Command::ReportChore(Box::new(ReportChore { name: words[1].clone(), deed, outcome, then }))
    }

    fn ask(&self, words: &[String]) -> Vec<String> {
        match words[0].as_str() {
            "action" => vec![self.action()],
            "drift" => {
                let mut known = self.known();
                loop {
                    match find_drift(&self.state, &known) {
                        Ok(drift) => break drift,
                        Err(Stop::Ask(questions)) => self.look(&mut known, questions),
                        Err(Stop::Refused(refusal)) => return refused(&refusal),
                    }
                }
            }
            "offers" => {
                let command = |it: &What| Some(it.command());
                let found = offers(self.workflow, &self.state, &self.known(), command);
                let person = found.needs_person.then(|| "after a person has answered:".to_owned());
                let open = found.open.iter().map(|it| {
                    let Needs { files, evidence } = &it.needs;
                    let files: String =
                        files.iter().map(|it| format!(", leaving `{it}`")).collect();
                    let keys = evidence.iter().map(|it| format!(", with evidence for `{it}`"));
                    format!("{}{files}{}", shown(&it.what), keys.collect::<String>())
                });
                let closed = found
                    .closed
                    .iter()
                    .map(|(what, why)| format!("not {}: {}", shown(what), why.code()));
                let ends = found.ends.iter().map(|it| format!("to end it: {}", shown(&it.what)));
                person.into_iter().chain(open).chain(closed).chain(ends).collect()
            }
            // The part of the last question that begins with this word.
            "prompt" => {
                let asked = self.model.as_ref().unwrap().asked.borrow();
                let Some(Question::Model { system, user, .. }) = asked.last() else {
                    return vec!["(nothing was asked)".to_owned()];
                };
                let text = if words[1] == "SYSTEM" { system } else { user };
                let start = if words[1] == "SYSTEM" { 0 } else { text.find(&words[1]).unwrap() };
                let part = text[start..].split("\n\n").next().unwrap_or_default();
                vec![part.to_owned()]
            }
            "step" => vec![last_step(&self.state).to_owned()],
            "context" => vec![Value::Object((*self.state.context).clone()).to_string()],
            "vars" => vec![Value::Object((*self.state.vars).clone()).to_string()],
            other => panic!("unknown question `{other}`"),
        }
    }

    fn action(&self) -> String {
        match next(self.workflow, &self.state) {
            Action::Work { step, parts } if parts.is_empty() => format!("work on {}", step.name),
            Action::Work { step, parts } => {
                let ids: Vec<_> = parts.iter().map(|it| it.id.to_string()).collect();
                format!("work on {} parts {}", step.name, ids.join(", "))
            }
            Action::Choose { after, choices } => {
                let names: Vec<_> = choices.iter().map(target_name).collect();
                format!("choose after {}: {}", after.name, names.join(", "))
            }
            Action::Chore { chore } => {
                let why = chore.failure.map(|it| format!(" (failed: {it})")).unwrap_or_default();
                format!("chore {}: {}{why}", chore.name, chore.deed.describe())
            }
            Action::Wait { gate } => format!("wait at {}", gate.step),
            Action::Done => "done".to_owned(),
            Action::Stopped { reason } => format!("stopped: {reason}"),
        }
    }

    fn look(&self, known: &mut Known, questions: Vec<Question>) {
        for question in questions {
            let fact = match &question {
                Question::File(path) | Question::Beside(path) => {
                    Fact::File(match self.files.get(path) {
                        None => FileFact::Missing,
                        Some(text) => FileFact::Present {
                            sha256: Digest::of(text.as_bytes()),
                            size: text.len() as u64,
                            text: Some(text.clone()),
                            modified: None,
                        },
                    })
                }
                Question::Git => Fact::Git(self.branch.as_ref().map(|branch| Git {
                    head: "abc".to_owned(),
                    branch: branch.clone(),
                    dirty: 0,
                })),
                Question::Branch(name) => {
                    let name = name.as_ref().or(self.branch.as_ref());
                    Fact::Branch(name.filter(|_| self.branch.is_some()).map(|name| Standpoint {
                        name: name.clone(),
                        commit: Some("abc".to_owned()),
                        is_elsewhere: false,
                    }))
                }
                Question::Check { run, .. } => Fact::Check(match self.checks.get(&run.join(" ")) {
                    None => CheckFact::NotAllowed,
                    Some(exit) => CheckFact::Ended { exit: *exit, output: "its output".to_owned() },
                }),
                Question::Model { .. } => {
                    let model = self.model.as_ref().expect("no model is there to be asked");
                    model.asked.borrow_mut().push(question.clone());
                    let reply = model.replies.borrow_mut().pop_front();
                    Fact::Model(reply.expect("the scenario has no reply for the model"))
                }
            };
            known.facts.insert(question, fact);
        }
    }
}

/// So many words, where a text must be long.
fn filler(words: usize) -> String {
    format!("\n\n{}", vec!["word"; words].join(" "))
}

fn shown(what: &What) -> String {
    match what {
        What::Begin(step) => format!("begin {step}"),
        What::Ask(step) => format!("ask about {step}"),
        What::Report(step) => format!("report {step}"),
        What::Choose { after, to } => format!("choose {} after {after}", target_name(to)),
        What::Leave { step, to } => format!("leave {step} for {}", target_name(to)),
        What::Retry(step) => format!("retry {step}"),
        What::Answer { option, .. } => format!("answer {option}"),
        What::Reopen => "reopen".to_owned(),
        What::Fail => "fail".to_owned(),
        What::Cancel => "cancel".to_owned(),
    }
}

fn refused(refusal: &Refusal) -> Vec<String> {
    vec![format!("refused {}: {refusal}", refusal.code()), format!("  {}", refusal.remedy())]
}

fn parse_command(words: &[String]) -> Command {
    let plain: Vec<&str> = words.iter().filter(|it| !is_option(it)).map(String::as_str).collect();
    let option = |name: &str| {
        let prefix = format!("{name}=");
        words.iter().find_map(|it| it.strip_prefix(&prefix)).map(str::to_owned)
    };
    let object = |name: &str| -> Map<String, Value> {
        option(name).map_or_else(Map::new, |it| serde_json::from_str(&it).unwrap())
    };
    let has = |word: &str| plain.contains(&word);
    let part = || option("part").map(|it| PartId::parse(&it).unwrap());
    let text = |from: usize| plain.get(from..).unwrap_or_default().join(" ");
    let report = || ReportStep {
        part: part(),
        report: Report {
            step_id: plain[1].to_owned(),
            status: plain.get(2).copied().unwrap_or("resuming").to_owned(),
            message: option("message"),
            error: option("error"),
            details: option("details").map_or(Value::Null, |it| serde_json::from_str(&it).unwrap()),
            result: Value::Null,
            by_server: false,
        },
        context: ContextChange {
            set: object("context"),
            remove: option("remove").into_iter().collect(),
        },
        next: option("next"),
        holder: option("holder")
            .map(|name| Holder { name, generation: option("lease").map(|it| it.parse().unwrap()) }),
        terms: ReportOptions {
            is_begun: has("begun"),
            consent: match () {
                () if has("approved") => Consent::Stated,
                () if has("implied") => Consent::Implied,
                () if has("unasked") => Consent::Needed,
                () => Consent::None,
            },
            rigor: if has("lax") { Rigor::Presence } else { Rigor::Full },
            end: if has("open") { AtEnd::StaysOpen } else { AtEnd::Completes },
        },
    };
    let answer = |answer: Answer| {
        Command::AnswerGate(Box::new(AnswerGate {
            answer,
            feedback: option("feedback").unwrap_or_default(),
            by: option("by").unwrap_or_else(|| "ann".to_owned()),
            how: if has("relayed") { How::Relayed } else { How::Verified },
            digest: option("digest").map(|it| Digest::of(it.as_bytes())),
        }))
    };
    let claim = || FileClaim {
        parts: option("parts").map_or_else(BTreeMap::new, |it| serde_json::from_str(&it).unwrap()),
        ..placement(plain[1], &object("steps"))
    };
    match plain[0] {
        "start" => Command::StartRun(Box::new(StartRun {
            goes_on: has("goes-on"),
            key: option("key"),
            flow: option("flow"),
            context: object("context"),
            vars: object("vars"),
            root: String::new(),
        })),
        "begin" => Command::StartStep(StartStep {
            step: plain[1].to_owned(),
            part: part(),
            details: object("details"),
            again: has("again"),
            asks: has("asks"),
        }),
        "fail-step" => Command::FailStep {
            step: plain[1].to_owned(),
            reason: text(2),
            details: object("details"),
        },
        "retry" => Command::RetryStep { step: plain[1].to_owned(), details: object("details") },
        "complete" => Command::CompleteRun {
            details: object("details"),
            context: ContextChange { set: object("set"), remove: Vec::new() },
            early: has("early"),
        },
        "adopt" => Command::AdoptRun(
            Box::new(StartRun {
                goes_on: false,
                key: option("key"),
                flow: None,
                context: object("context"),
                vars: Map::new(),
                root: String::new(),
            }),
            Box::new(claim()),
        ),
        "edit" => Command::TakeEdit(Box::new(claim())),
        "report" => Command::ReportStep(Box::new(report())),
        "resume" => Command::ResumeRun(Box::new(ResumeRun {
            assumed: plain[1].to_owned(),
            report: report(),
            force: has("force"),
        })),
        "approve" => answer(Answer::Approve),
        "reject" => answer(Answer::Reject),
        "agree" => Command::ApproveStep { step: plain[1].to_owned() },
        "answer" => answer(Answer::Named(plain[1].to_owned())),
        "claim" => Command::ClaimStep(ClaimStep {
            step: option("step"),
            part: part(),
            holder: plain[1].to_owned(),
            duration: option("for").map(|it| duration(&it)),
        }),
        "release" => Command::ReleaseStep { generation: plain[1].parse().unwrap() },
        "error" => entry(Entry::Error { message: text(1), severity: None, details: Map::new() }),
        "note" => entry(Entry::Note { text: text(1), tags: vec![] }),
        "vars" => Command::SetVars { set: object("set") },
        "move" => Command::Move(Box::new(MakeMove {
            name: plain[1].to_owned(),
            args: object("args"),
            is_approved: plain.contains(&"approved"),
        })),
        "goto" => {
            let passing = match option("passing").as_deref() {
                Some("order") => GatePolicy::InOrder,
                _ => GatePolicy::Anything,
            };
            Command::GoTo { step: text(1), passing }
        }
        "halting" => Command::StopAtNextStep(parse_command(&words[1..]).into()),
        "skip" => Command::SkipStep { step: text(1) },
        "ask" => Command::AskPerson { step: text(1) },
        // `on [STEP] [done] [say=ANSWER] [stay]`
        "on" => {
            let done = || Done { step: plain.get(1).map(|it| (*it).to_owned()), ..Done::default() };
            let report = has("done").then(done).map(|it| Done {
                step: it.step.filter(|it| !["done", "stay"].contains(&it.as_str())),
                is_setup: has("prepared"),
                ..it
            });
            let onward = Onward {
                details: object("details"),
                message: option("message"),
                ..Onward::default()
            };
            let onward = (!has("stay")).then_some(onward);
            Command::Advance(Box::new(Advance { report, answer: option("say"), onward }))
        }
        "plan" => Command::PlanParts {
            set: text(1),
            parts: serde_json::from_str(&option("parts").unwrap()).unwrap(),
        },
        "part" => Command::PlacePart(PartPlaced {
            step: StepName::parse(plain[1]).unwrap(),
            part: PartId::parse(plain[2]).unwrap(),
            progress: option("progress").map(|it| serde_json::from_value(it.into()).unwrap()),
            revisions: option("revisions").map(|it| it.parse().unwrap()),
            verdict: option("verdict"),
            title: option("title"),
            mode: option("mode"),
        }),
        "usage" => entry(Entry::Usage {
            tokens: plain[1].parse().unwrap(),
            duration_ms: plain[2].parse().unwrap(),
            model: text(3),
        }),
        "item" => Command::AddItem { text: text(1) },
        "close" => Command::CloseItem { id: text(1).parse().unwrap() },
        "cancel" => Command::CancelRun { reason: text(1) },
        "fail" => Command::FailRun { reason: text(1), step: option("step"), errors: Vec::new() },
        "reopen" => Command::ReopenRun { reason: "again".to_owned(), force: has("force") },
        "give-up-key" => Command::GiveUpKey,
        "expire" => Command::ExpireStep,
        other => panic!("unknown command `{other}`"),
    }
}

fn entry(entry: Entry) -> Command {
    Command::RecordEntry { step: None, entry }
}

/// Where a file says that the work is: a standing, and `{"step": "progress"}` or a whole stage.
fn placement(stood: &str, steps: &Map<String, Value>) -> FileClaim {
    let stage = |said: &Value| {
        if said.is_object() {
            return serde_json::from_value(said.clone()).unwrap();
        }
        let progress = serde_json::from_value(said.clone()).unwrap();
        ClaimedProgress { progress, ..ClaimedProgress::default() }
    };
    FileClaim {
        path: "state.json".to_owned(),
        sha256: Digest::of(b"state"),
        text: "state".to_owned(),
        stood: serde_json::from_value(Value::from(stood)).unwrap(),
        reason: String::new(),
        steps: steps.iter().map(|(step, it)| (StepName::parse(step).unwrap(), stage(it))).collect(),
        stated: None,
        at: None,
        parts: BTreeMap::new(),
        current: None,
        is_work_done: false,
        vars: Map::new(),
        items: None,
        journal: None,
        started_at: None,
        updated_at: None,
    }
}

fn is_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    word.contains('=') && !name.is_empty() && name.chars().all(|it| it.is_ascii_lowercase())
}

fn duration(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().unwrap();
    match unit {
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number * 60),
        "h" => Duration::from_secs(number * 3600),
        other => panic!("unknown unit `{other}`"),
    }
}

/// Splits a line at blanks, but not inside `"…"`, `{…}` or `[…]`. Quotes around a word, or around
/// what follows its `=`, are taken off.
fn split(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let (mut depth, mut is_quoted) = (0, false);
    for letter in line.chars() {
        match letter {
            '"' if depth == 0 => is_quoted = !is_quoted,
            ' ' if depth == 0 && !is_quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                match letter {
                    '{' | '[' if !is_quoted => depth += 1,
                    '}' | ']' if !is_quoted => depth -= 1,
                    _ => {}
                }
                word.push(letter);
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
