//! Where a definition says conditions, expressions and templates.

use std::collections::BTreeMap;

use crate::{
    Action, Check, Chore, ChoreDeed, Condition, Deed, Diagnostic, Expression, Insertion,
    PartSource, Severity, Step, Template, Workflow,
    check::{Places, Spot},
    expression::NameUse,
};

/// What an expression is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum Purpose<'a> {
    Condition,
    /// The new value of a variable.
    Set(&'a str),
    Value,
}

/// An expression, and where a front matter says it.
pub(in crate::check) struct Used<'a> {
    at: Spot,
    path: Vec<String>,
    pub(in crate::check) purpose: Purpose<'a>,
    /// Where in the text at `path` it begins, in bytes.
    start: usize,
    pub(in crate::check) source: &'a str,
    pub(in crate::check) names: &'a [NameUse],
}

impl Used<'_> {
    pub(in crate::check) fn diagnose(
        &self,
        places: &Places<'_>,
        (start, width): (usize, usize),
        (severity, code): (Severity, &'static str),
        message: String,
    ) -> Diagnostic {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let label = places.within(self.at, &path, (self.start + start, width));
        Diagnostic { severity, ..Diagnostic::error(code, label, message) }
    }
}

/// Gathers the expressions of the index and of every step.
pub(in crate::check) fn of(workflow: &Workflow) -> Vec<Used<'_>> {
    let mut uses = Uses { at: Spot::Index, found: Vec::new() };
    uses.add_index(workflow);
    for (at, step) in workflow.steps.iter().enumerate() {
        uses.at = Spot::Step(at);
        uses.add_step(step);
    }
    uses.found
}

struct Uses<'a> {
    at: Spot,
    found: Vec<Used<'a>>,
}

impl<'a> Uses<'a> {
    fn add_index(&mut self, workflow: &'a Workflow) {
        for it in &workflow.moves {
            let path = ["on", "call", it.name.as_str()];
            self.condition(&[&path[..], &["when"]].concat(), it.when.as_ref());
            if let Some(consent) = &it.consent {
                let path = [&path[..], &["consent", consent.step.as_str()]].concat();
                self.condition(&path, consent.when.as_ref());
            }
            self.actions(&[&path[..], &["do"]].concat(), 0, &it.actions);
        }
        for rule in &workflow.rules {
            let path = ["on", "change", rule.name.as_str()];
            self.condition(&[&path[..], &["when"]].concat(), Some(&rule.when));
            self.actions(&[&path[..], &["do"]].concat(), 0, &rule.actions);
        }
        for chore in &workflow.chores {
            self.chore(chore);
        }
        self.actions(&["on", "adopt"], 0, &workflow.adopt);
        workflow.stretch.from.iter().for_each(|it| self.expression(&["from"], it));
        workflow.stretch.until.iter().for_each(|it| self.expression(&["until"], it));
        if let Some(budget) = &workflow.budget {
            budget.tokens.iter().for_each(|it| self.expression(&["limits", "tokens"], it));
            if let Some(money) = &budget.money {
                self.expression(&["limits", "cost"], &money.max);
                self.expression(&["limits", "prices"], &money.prices);
            }
            budget.ask.iter().for_each(|it| self.template(&["limits", "ask"], it));
        }
    }

    fn chore(&mut self, chore: &'a Chore) {
        let entry = ["on", "while", chore.name.as_str()];
        self.condition(&[&entry[..], &["when"]].concat(), Some(&chore.when));
        self.actions(&[&entry[..], &["do"]].concat(), 1, &chore.actions);
        let path = |more: &[&'a str]| [&entry[..], &["do", "0"], more].concat();
        match &chore.deed {
            ChoreDeed::RenameBranch { from, to } => {
                self.template(&path(&["rename_branch"]), from);
                self.template(&path(&["rename_branch", from.source()]), to);
            }
            ChoreDeed::Commit { paths, message, .. } => {
                self.expression(&path(&["commit", "paths"]), paths);
                self.template(&path(&["commit", "message"]), message);
            }
            ChoreDeed::Push { remote } => self.template(&path(&["push"]), remote),
            ChoreDeed::Publish(it) => {
                self.templates(&path(&["publish", "files"]), &it.files);
                it.body.iter().for_each(|it| self.template(&path(&["publish", "body"]), it));
                it.closes.iter().for_each(|it| self.template(&path(&["publish", "closes"]), it));
            }
            ChoreDeed::Checkout { branch, from } => {
                self.template(&path(&["checkout"]), branch);
                from.iter().for_each(|it| self.template(&path(&["checkout", branch.source()]), it));
            }
        }
    }

    /// Actions that are written in a list from this place on.
    fn actions(&mut self, path: &[&str], from: usize, actions: &'a [Action]) {
        for (at, action) in actions.iter().enumerate() {
            let at = (from + at).to_string();
            let within = |more: &[&'a str]| [path, &[at.as_str()], more].concat();
            self.condition(&within(&["when"]), action.when.as_ref());
            match &action.deed {
                Deed::Set(set) => self.set(&within(&["set"]), set),
                Deed::Merge(it) => self.expression(&within(&["merge"]), it),
                Deed::Goto(it) => self.template(&within(&["goto"]), it),
                Deed::Note(it) => self.template(&within(&["note"]), it),
                Deed::Error(it) => self.template(&within(&["error"]), it),
                Deed::AddItem(it) => self.template(&within(&["add_item"]), it),
                Deed::CloseItem(all) => self.templates(&within(&["close_item"]), all),
                Deed::FindItem(it) => self.template(&within(&["find_item"]), it),
                Deed::Remove(all) => self.templates(&within(&["remove"]), all),
                Deed::Insert(Insertion { path, heading, line }) => {
                    self.template(&within(&["insert"]), path);
                    self.template(&within(&["insert", path.source(), heading]), line);
                }
                Deed::Rotate(_, Some(it)) => {
                    self.template(&within(&["rotate", "findings"]), it);
                }
                Deed::Rotate(_, None) => {}
            }
        }
    }

    fn add_step(&mut self, step: &'a Step) {
        for (at, need) in step.needs.iter().enumerate() {
            let at = at.to_string();
            self.template(&["needs", &at, "path"], &need.path);
            self.condition(&["needs", &at, "when"], need.when.as_ref());
        }
        for (at, product) in step.produces.iter().enumerate() {
            let at = at.to_string();
            self.template(&["produces", &at, "path"], &product.path);
            self.condition(&["produces", &at, "when"], product.when.as_ref());
            for check in &product.checks {
                if let Check::Covers { file, .. } = check {
                    self.template(&["produces", &at, "covers", "0"], file);
                }
            }
        }
        step.agent.iter().for_each(|it| self.template(&["agent"], it));
        if let Some(gate) = &step.gate {
            self.template(&["gate", "ask"], &gate.ask);
            self.templates(&["gate", "show"], &gate.show);
            self.condition(&["gate", "during"], gate.during.as_ref());
            self.condition(&["gate", "unless"], gate.unless.as_ref());
            self.condition(&["gate", "holds"], gate.holds.as_ref());
            gate.about.iter().for_each(|it| self.template(&["gate", "about"], it));
        }
        if let Some(rules) = &step.rules {
            self.template(&["rules", "parts"], &rules.parts);
            self.template(&["rules", "note"], &rules.note);
        }
        if let Some(review) = &step.review {
            review.read.iter().for_each(|it| self.template(&["review", "read"], it));
            review.judges.iter().for_each(|it| self.template(&["review", "judges"], it));
            for limit in &review.limits {
                self.actions(&["review", "limits", &limit.after.to_string()], 1, &limit.actions);
            }
        }
        for (at, next) in step.next.iter().enumerate() {
            let at = at.to_string();
            self.condition(&["next", &at, "when"], next.when.as_ref());
            self.actions(&["next", &at, "do"], 0, &next.actions);
        }
        match step.each.as_ref().map(|it| &it.from) {
            Some(PartSource::File { path, .. }) => self.template(&["each", "from"], path),
            Some(PartSource::Context(it)) => self.expression(&["each", "list"], it),
            Some(PartSource::Shared | PartSource::Listed(_)) | None => {}
        }
        if let Some(each) = &step.each {
            self.condition(&["each", "only"], each.only.as_ref());
            self.condition(&["each", "otherwise_when"], each.otherwise_when.as_ref());
        }
        let on = &step.on;
        for (moment, it) in [("enter", &on.enter), ("done", &on.done), ("back", &on.back)] {
            self.actions(&["on", moment], 0, it);
        }
        self.condition(&["skip_when"], step.skip_when.as_ref());
    }

    fn push(
        &mut self,
        path: &[&str],
        purpose: Purpose<'a>,
        (start, source, names): (usize, &'a str, &'a [NameUse]),
    ) {
        let path = path.iter().map(|it| (*it).to_owned()).collect();
        self.found.push(Used { at: self.at, path, purpose, start, source, names });
    }

    fn condition(&mut self, path: &[&str], condition: Option<&'a Condition>) {
        if let Some(it) = condition {
            self.push(path, Purpose::Condition, (0, it.source(), it.names()));
        }
    }

    fn expression(&mut self, path: &[&str], expression: &'a Expression) {
        self.push(path, Purpose::Value, (0, expression.source(), expression.names()));
    }

    fn template(&mut self, path: &[&str], template: &'a Template) {
        for expression in template.expressions() {
            self.push(path, Purpose::Value, expression);
        }
    }

    fn templates(&mut self, path: &[&str], all: &'a [Template]) {
        for (at, it) in all.iter().enumerate() {
            self.template(&[path, &[&at.to_string()]].concat(), it);
        }
    }

    fn set(&mut self, path: &[&str], set: &'a BTreeMap<String, Expression>) {
        for (name, it) in set {
            let path = [path, &[name]].concat();
            self.push(&path, Purpose::Set(name), (0, it.source(), it.names()));
        }
    }
}
