//! Which calls may come next, with their arguments.

use serde_json::{Map, Value};

use super::{Guidance, Mode, Next, Told, onward::onward};

/// What stands for a task that nobody has named.
const TASK: &str = "<the task, in the user's words>";

/// Introduces a call that is only in order after the one before it.
pub(in super::super) const LATER: &str = "after that, when the plan is done";

/// Returns the calls that may follow, in the order they are to be thought of.
pub(super) fn next(told: &Told<'_>) -> Vec<Next> {
    if told.lacks_task() {
        return vec![told.call("when the user has named the task", Guidance::Init, &[])];
    }
    match told.tool {
        Guidance::Init if told.is_queued() => onward(told),
        Guidance::Init | Guidance::CreateState => {
            vec![told.call("when the configuration is there", Guidance::Analyze, &[])]
        }
        Guidance::Analyze => told.after_analysis(),
        Guidance::Blueprint | Guidance::Revise => told.after_planning(),
        Guidance::Construct => told.while_building(),
        Guidance::Validate => told.while_validating(),
        Guidance::Complete => told.after_completion(),
        Guidance::Iterate => told.at_next_item(),
        Guidance::Finalize => Vec::new(),
        Guidance::ErrorRecovery => told.out_of_error(),
        Guidance::FixValidation => told.while_fixing(),
        Guidance::Escalate => told.as_the_user_says(),
        Guidance::Changelog => told.after_changelog(),
        Guidance::Update | Guidance::CreateConfig | Guidance::Hello => onward(told),
        Guidance::CheckConfig | Guidance::ValidateFiles => told.after_check(),
    }
}

impl Told<'_> {
    /// Returns a call with the task and further arguments.
    pub(in super::super) fn call(&self, when: &str, tool: Guidance, more: &[(&str, &str)]) -> Next {
        let task = ("task_description", self.task().unwrap_or(TASK));
        let named = if tool.names_task() { Some(task) } else { None };
        let mut params = Map::new();
        for (key, value) in named.iter().chain(more) {
            params.insert((*key).to_owned(), Value::from(*value));
        }
        Next { when: when.to_owned(), tool: tool.name(), params }
    }

    /// Returns the call that says that the user has approved the plan.
    pub(in super::super) fn approval(&self) -> Next {
        let when = "when the user has approved the plan";
        let mut next = self.call(when, Guidance::Construct, &[]);
        next.params.insert("user_approval".to_owned(), Value::Bool(true));
        next
    }

    /// Returns what is left to do where only the user's own answer counts.
    pub(in super::super) fn person(&self) -> Next {
        let when =
            "when the user has answered with `milepost gate` (tell them; do not run it yourself)";
        self.call(when, Guidance::Hello, &[])
    }

    /// Returns the call that records something, where the server keeps the state.
    fn record(&self, when: &str, at: (&str, &str), what: (&str, &str)) -> Option<Next> {
        let arguments = [("phase", at.0), ("status", at.1), what];
        let is_managed = self.mode == Mode::Managed;
        is_managed.then(|| self.call(when, Guidance::Update, &arguments))
    }

    /// Returns what was sent with the call, or what is to be filled in.
    fn detail_or(&self, place: &'static str) -> String {
        let detail = self.detail.trim();
        if detail.is_empty() { place.to_owned() } else { detail.to_owned() }
    }

    pub(super) fn after_analysis(&self) -> Vec<Next> {
        let summary = [("requirements_summary", "<the requirements summary>")];
        let pause = self.record(
            "if you must stop before that",
            ("ANALYZE", "READY"),
            ("log_entry", "<what is known so far, and what is not>"),
        );
        let done = self.call("when the summary is written", Guidance::Blueprint, &summary);
        [Some(done), pause].into_iter().flatten().collect()
    }

    pub(super) fn after_planning(&self) -> Vec<Next> {
        if self.facts.is_approved {
            let at = match self.state {
                // The plan is approved by itself as soon as it is put before the user.
                Some(it) if it.phase == "BLUEPRINT" => ("BLUEPRINT", "NEEDS_PLAN_APPROVAL"),
                Some(it) => (it.phase, it.status),
                None => ("CONSTRUCT", "RUNNING"),
            };
            let plan = ("plan", "<the whole plan, in Markdown>");
            let recorded = self.record("when the plan is written", at, plan);
            let when = "when the plan is in place, without waiting";
            let build = self.call(when, Guidance::Construct, &[]);
            return recorded.into_iter().chain([build]).collect();
        }
        let recorded = self.record(
            "when the plan is written, before you show it",
            ("BLUEPRINT", "NEEDS_PLAN_APPROVAL"),
            ("plan", "<the whole plan, in Markdown>"),
        );
        recorded.into_iter().chain(self.after_showing()).collect()
    }

    /// Returns what the user's answer to a plan leads to.
    pub(super) fn after_showing(&self) -> [Next; 2] {
        let feedback = [("feedback", "<what the user wants changed, word for word>")];
        let revise = self.call("when the user wants changes", Guidance::Revise, &feedback);
        [self.approval(), revise]
    }

    pub(super) fn while_building(&self) -> Vec<Next> {
        let recorded = self.record(
            "after each step (status `READY` after the last one)",
            ("CONSTRUCT", "RUNNING"),
            ("log_entry", "<the log entry of this step>"),
        );
        let error = [("error_details", "<step, command, output, what was tried>")];
        let failed = "when a step has failed three times, or the plan turns out wrong";
        let calls = [
            self.call("when every step is done and green", Guidance::Validate, &[]),
            self.call(failed, Guidance::ErrorRecovery, &error),
        ];
        recorded.into_iter().chain(calls).collect()
    }

    pub(super) fn while_validating(&self) -> Vec<Next> {
        let recorded = self.record(
            "when the report is written",
            ("VALIDATE", "RUNNING"),
            ("log_entry", "<the validation report>"),
        );
        let summary = [("summary", "<one sentence for the changelog>")];
        let issues = [("issues", "<each FAIL, with its command and output>")];
        let calls = [
            self.call("when the verdict is PASS", Guidance::Complete, &summary),
            self.call("when the verdict is FAIL", Guidance::FixValidation, &issues),
        ];
        recorded.into_iter().chain(calls).collect()
    }

    pub(super) fn after_completion(&self) -> Vec<Next> {
        let pending = self.call("when a row is pending", Guidance::Iterate, &[]);
        let none = self.call("when no row is pending", Guidance::Finalize, &[]);
        self.by_pending(pending, none)
    }

    fn at_next_item(&self) -> Vec<Next> {
        let mut item = self.call("when a row is pending", Guidance::Analyze, &[]);
        let next = self.next_item().unwrap_or("<the next pending item>");
        item.params.insert("task_description".to_owned(), Value::from(next));
        self.by_pending(item, self.call("when no row is pending", Guidance::Finalize, &[]))
    }

    /// Returns the one of two calls that applies, or both where the server cannot know.
    fn by_pending(&self, pending: Next, none: Next) -> Vec<Next> {
        let known = if self.has_pending() { &pending } else { &none };
        match self.mode {
            Mode::Managed => vec![Next { when: "now".to_owned(), ..known.clone() }],
            Mode::Advisory => vec![pending, none],
        }
    }

    pub(super) fn out_of_error(&self) -> Vec<Next> {
        let error = self.detail_or("<the error: command, output, what was tried>");
        let critical =
            self.call("if it is critical", Guidance::Escalate, &[("error_details", &error)]);
        match self.phase() {
            // From here the way on is not open: there is nothing yet that could be built.
            Some("INIT" | "ANALYZE") => {
                vec![self.call("if it is simple or complex", Guidance::Analyze, &[]), critical]
            }
            Some("BLUEPRINT") => vec![
                self.call("if it is simple or complex", Guidance::Revise, &[("feedback", &error)]),
                critical,
            ],
            Some(_) | None => vec![
                self.call("if it is simple", Guidance::Construct, &[]),
                self.call(
                    "if it is complex",
                    Guidance::Blueprint,
                    &[("requirements_summary", &error)],
                ),
                critical,
            ],
        }
    }

    fn while_fixing(&self) -> Vec<Next> {
        let error = [("error_details", "<the issue, its output, the three attempts>")];
        let failed = "when an issue is still there after three attempts";
        let at = self.phase().unwrap_or("VALIDATE");
        let recorded = self.record(
            "after each fixed issue",
            (at, "ERROR"),
            ("log_entry", "<issue, cause, fix, command, output>"),
        );
        let fixed = "when all issues are fixed";
        let issues = self.detail_or("<the issues, and how they were fixed>");
        // While the status is ERROR, only VALIDATE itself leads straight back to a validation.
        let mut calls: Vec<Next> = recorded.into_iter().collect();
        match self.phase() {
            Some("INIT" | "ANALYZE") => calls.push(self.call(fixed, Guidance::Analyze, &[])),
            Some("BLUEPRINT") => {
                calls.push(self.call(fixed, Guidance::Revise, &[("feedback", &issues)]));
            }
            Some("CONSTRUCT") => {
                let first = "when all issues are fixed, to finish the plan";
                calls.push(self.call(first, Guidance::Construct, &[]));
                calls.push(self.call(LATER, Guidance::Validate, &[]));
            }
            Some(_) | None => calls.push(self.call(fixed, Guidance::Validate, &[])),
        }
        calls.push(self.call(failed, Guidance::ErrorRecovery, &error));
        calls
    }

    fn as_the_user_says(&self) -> Vec<Next> {
        let error = self.detail_or("<the error, and what the user decided>");
        let retry = "when the user says to try again";
        let again = "when the user wants another plan";
        match self.phase() {
            Some("INIT" | "ANALYZE") => vec![self.call(retry, Guidance::Analyze, &[])],
            Some("BLUEPRINT") => {
                let feedback = [("feedback", "<what the user said, word for word>")];
                vec![self.call("when the user has answered", Guidance::Revise, &feedback)]
            }
            Some(_) | None => vec![
                self.call(retry, Guidance::Construct, &[]),
                self.call(again, Guidance::Blueprint, &[("requirements_summary", &error)]),
            ],
        }
    }

    fn after_changelog(&self) -> Vec<Next> {
        if self.facts.changelog.is_some() || self.mode == Mode::Advisory {
            return onward(self);
        }
        let summary = [("summary", "<one sentence, past tense>")];
        vec![self.call("when the sentence is written", Guidance::Changelog, &summary)]
    }

    fn after_check(&self) -> Vec<Next> {
        let config = |when: &str| self.call(when, Guidance::CreateConfig, &[]);
        let state = |when: &str| self.call(when, Guidance::CreateState, &[]);
        let is_of = |file: &str| self.facts.issues.iter().any(|it| it.starts_with(file));
        // One that is there with other faults is not made again.
        let is_missing = self.state.is_none() && is_of("workflow_state.md");
        match (self.tool, self.mode) {
            (_, Mode::Managed) if self.facts.issues.is_empty() => onward(self),
            (Guidance::CheckConfig, _) => vec![config("when the file or a section is missing")],
            (_, Mode::Advisory) => vec![
                state("when `workflow_state.md` is missing"),
                config("when `project_config.md` is missing or lacks a section"),
            ],
            (_, Mode::Managed) => {
                let mut calls = Vec::new();
                if is_missing {
                    calls.push(state("when `workflow_state.md` does not exist"));
                }
                if is_of("project_config.md") {
                    calls
                        .push(config("when `project_config.md` does not exist or lacks a section"));
                }
                if calls.is_empty() { onward(self) } else { calls }
            }
        }
    }
}

impl Next {
    /// Whether a call that is only in order later relies on this one.
    pub(in super::super) fn is_before_later(&self) -> bool {
        self.tool == Guidance::Construct.name() || self.tool == Guidance::Init.name()
    }
}

impl Guidance {
    /// Returns whether the tool is called with the task.
    fn names_task(self) -> bool {
        let recovers = matches!(self, Self::ErrorRecovery | Self::FixValidation | Self::Escalate);
        self.takes_task() || recovers || self == Self::Changelog
    }
}
