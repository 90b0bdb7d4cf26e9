//! Where a definition says conditions, expressions and templates.

use std::collections::BTreeMap;

use crate::{
    Action, Check, Chore, ChoreDeed, Condition, Deed, Diagnostic, Expression, PartSource, Severity,
    Step, Template, Workflow,
    check::{Places, Spot},
    expression::NameUse,
};

/// What an expression is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose<'a> {
    Condition,
    /// The new value of a variable.
    Set(&'a str),
    Value,
}

/// An expression, and where a front matter says it.
pub(super) struct Used<'a> {
    at: Spot,
    path: Vec<String>,
    pub(super) purpose: Purpose<'a>,
    /// Where in the text at `path` it begins, in bytes.
    start: usize,
    pub(super) source: &'a str,
    pub(super) names: &'a [NameUse],
}

impl Used<'_> {
    pub(super) fn diagnose(
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
pub(super) fn of(workflow: &Workflow) -> Vec<Used<'_>> {
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
            let path = ["moves", it.name.as_str()];
            self.condition(&[&path[..], &["when"]].concat(), it.when.as_ref());
            let consent = it.consent.as_ref().and_then(|it| it.when.as_ref());
            self.condition(&[&path[..], &["consent", "when"]].concat(), consent);
            self.actions(&[&path[..], &["do"]].concat(), &it.actions);
        }
        for (at, rule) in workflow.rules.iter().enumerate() {
            let at = at.to_string();
            self.condition(&["rules", &at, "when"], Some(&rule.when));
            self.actions(&["rules", &at, "do"], &rule.actions);
        }
        for (at, chore) in workflow.chores.iter().enumerate() {
            self.chore(&at.to_string(), chore);
        }
        self.actions(&["adopt"], &workflow.adopt);
        workflow.stretch.from.iter().for_each(|it| self.expression(&["from"], it));
        workflow.stretch.until.iter().for_each(|it| self.expression(&["until"], it));
        if let Some(budget) = &workflow.budget {
            self.expression(&["budget", "tokens"], &budget.tokens);
            if let Some(money) = &budget.money {
                self.expression(&["budget", "money"], &money.max);
                self.expression(&["budget", "prices"], &money.prices);
            }
            budget.ask.iter().for_each(|it| self.template(&["budget", "ask"], it));
        }
    }

    fn chore(&mut self, at: &str, chore: &'a Chore) {
        let path = |more: &[&'static str]| [&["chores", at], more].concat();
        self.condition(&path(&["when"]), Some(&chore.when));
        self.set(&path(&["set"]), &chore.set);
        match &chore.deed {
            ChoreDeed::RenameBranch { from, to } => {
                self.template(&path(&["rename_branch", "from"]), from);
                self.template(&path(&["rename_branch", "to"]), to);
            }
            ChoreDeed::Commit { paths, message, .. } => {
                self.expression(&path(&["commit", "paths"]), paths);
                self.template(&path(&["commit", "message"]), message);
            }
            ChoreDeed::Push { remote } => self.template(&path(&["push", "remote"]), remote),
            ChoreDeed::Publish(it) => {
                for (at, file) in it.files.iter().enumerate() {
                    let at = at.to_string();
                    self.template(&[&path(&["publish", "files"])[..], &[&at]].concat(), file);
                }
                it.body.iter().for_each(|it| self.template(&path(&["publish", "body"]), it));
                it.closes.iter().for_each(|it| self.template(&path(&["publish", "closes"]), it));
            }
            ChoreDeed::Checkout { branch, from } => {
                self.template(&path(&["checkout", "branch"]), branch);
                from.iter().for_each(|it| self.template(&path(&["checkout", "from"]), it));
            }
        }
    }

    fn actions(&mut self, path: &[&str], actions: &'a [Action]) {
        for (at, action) in actions.iter().enumerate() {
            let at = at.to_string();
            let within = |more: &[&'static str]| [path, &[at.as_str()], more].concat();
            self.condition(&within(&["when"]), action.when.as_ref());
            match &action.deed {
                Deed::Set(set) => self.set(&within(&["set"]), set),
                Deed::Goto(it) => self.template(&within(&["goto"]), it),
                Deed::Note(it) => self.template(&within(&["note"]), it),
                Deed::Error(it) => self.template(&within(&["error"]), it),
                Deed::AddItem(it) => self.template(&within(&["add_item"]), it),
                Deed::CloseItem(all) => {
                    for (at, it) in all.iter().enumerate() {
                        let at = at.to_string();
                        self.template(&[&within(&["close_item"])[..], &[&at]].concat(), it);
                    }
                }
                Deed::FindItem(it) => self.template(&within(&["find_item"]), it),
                Deed::Insert(it) => {
                    self.template(&within(&["insert", "path"]), &it.path);
                    self.template(&within(&["insert", "line"]), &it.line);
                }
                Deed::Rotate(_, with) => {
                    if let Some(it) = with {
                        self.template(&within(&["rotate", "with"]), it);
                    }
                }
                Deed::TakeItem(_) => {}
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
                    self.template(&["produces", &at, "covers", "file"], file);
                }
            }
        }
        step.agent.iter().for_each(|it| self.template(&["agent"], it));
        for (at, path) in step.drops.iter().enumerate() {
            self.template(&["drops", &at.to_string()], path);
        }
        if let Some(gate) = &step.gate {
            for (at, path) in gate.drops.iter().enumerate() {
                self.template(&["gate", "drops", &at.to_string()], path);
            }
            self.template(&["gate", "ask"], &gate.ask);
            for (at, path) in gate.show.iter().enumerate() {
                self.template(&["gate", "show", &at.to_string()], path);
            }
            self.condition(&["gate", "during"], gate.during.as_ref());
            self.condition(&["gate", "unless"], gate.unless.as_ref());
            self.condition(&["gate", "holds"], gate.holds.as_ref());
        }
        if let Some(rules) = &step.rules {
            self.template(&["rules", "parts"], &rules.parts);
            self.template(&["rules", "note"], &rules.note);
        }
        if let Some(review) = &step.review {
            review.read.iter().for_each(|it| self.template(&["review", "read"], it));
            review.judges.iter().for_each(|it| self.template(&["review", "judges"], it));
            for (at, limit) in review.limits.iter().enumerate() {
                self.set(&["review", "limits", &at.to_string(), "set"], &limit.set);
            }
        }
        for (at, next) in step.next.iter().enumerate() {
            let at = at.to_string();
            self.condition(&["next", &at, "when"], next.when.as_ref());
            self.set(&["next", &at, "set"], &next.set);
            next.merge.iter().for_each(|it| self.expression(&["next", &at, "merge"], it));
        }
        match step.each.as_ref().map(|it| &it.from) {
            Some(PartSource::File { path, .. }) => self.template(&["each", "from"], path),
            Some(PartSource::Context(it)) => self.expression(&["each", "context"], it),
            Some(PartSource::Shared | PartSource::Listed(_)) | None => {}
        }
        if let Some(each) = &step.each {
            self.set(&["each", "set"], &each.set);
        }
        self.set(&["enter"], &step.enter);
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

    fn set(&mut self, path: &[&str], set: &'a BTreeMap<String, Expression>) {
        for (name, it) in set {
            let path = [path, &[name]].concat();
            self.push(&path, Purpose::Set(name), (0, it.source(), it.names()));
        }
    }
}
