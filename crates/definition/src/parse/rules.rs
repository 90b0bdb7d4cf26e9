//! The rules on leaving a step: gate, review, attempts, next.

use std::collections::BTreeMap;

use super::{
    Document, Problems,
    index::ANSWERS,
    keys,
    node::{Content, Node},
    on,
    reader::Reader,
};
use crate::{
    Attempts, Diagnostic, Effect, Expression, FINISH, Gate, GateOption, Limit, Review, Rules,
    Spent, Step, StepName, Successor, Template, Unknown, Var, VarKind, suggest,
};

/// Reads `gate: true`, or a map. `gate: false` is not a gate.
pub(super) fn read_gate(reader: &mut Reader<'_>, node: &Node, step: &StepName) -> Option<Gate> {
    let mut gate = Gate::plain(default_question(step), step);
    if let Content::Boolean(is_on) = node.content {
        return is_on.then_some(gate);
    }
    if !matches!(node.content, Content::Map(_)) {
        reader.refuse_kind(node, "gate", "true or a map");
        return None;
    }
    let fields = reader.fields(node, "gate", &[&keys::GATE])?;
    gate.ask = fields.read(reader, "ask", Reader::template).unwrap_or(gate.ask);
    gate.show = fields.items(reader, "show", Reader::path);
    if let Some(options) = fields.find("options") {
        gate.options = read_options(reader, options);
    }
    gate.answers = fields.choice(reader, "answers", &ANSWERS);
    gate.during = fields.read(reader, "during", Reader::condition);
    gate.unless = fields.read(reader, "unless", Reader::condition);
    gate.reviewed = fields.read(reader, "reviewed", Reader::step);
    gate.holds = fields.read(reader, "holds", Reader::condition);
    gate.about = fields.read(reader, "about", Reader::template);
    gate.rounds_max = fields.read(reader, "rounds", Reader::count);
    gate.ahead = fields.read(reader, "ahead", Reader::boolean).unwrap_or(gate.ahead);
    Some(gate)
}

/// The name is quoted as a literal, so that braces in it mean nothing.
fn default_question(step: &StepName) -> Template {
    let quoted = step.as_str().replace('\\', r"\\").replace('\'', r"\'");
    let parsed = Template::parse(&format!("Approve step `{step}`?")).ok();
    let parsed = parsed.filter(Template::is_plain);
    parsed
        .or_else(|| Template::parse(&format!("Approve step `{{{{ '{quoted}' }}}}`?")).ok())
        .or_else(|| Template::parse("Approve this step?").ok())
        .expect("a text without braces is a template")
}

fn read_options(reader: &mut Reader<'_>, node: &Node) -> Vec<GateOption> {
    let Some(pairs) = reader.pairs(node, "gate.options") else { return Vec::new() };
    if pairs.is_empty() {
        reader.refuse_value(node, "`gate.options` must not be empty");
    }
    let options = pairs.iter().filter_map(|(key, value)| {
        let effect = read_effect(reader, value, &format!("gate.options.{}", key.key()))?;
        Some(GateOption { name: key.key().to_owned(), effect })
    });
    options.collect()
}

/// Reads `approve`, `skip`, `fail`, `cancel` or `back STEP`.
fn read_effect(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Effect> {
    let word = reader.text(node, key)?;
    if let Some(step) = word.strip_prefix("back ") {
        return reader.find_step(node, step.trim()).map(Effect::Back);
    }
    let effect = match word.as_str() {
        "approve" => Effect::Approve,
        "skip" => Effect::Skip,
        "fail" => Effect::Fail,
        "cancel" => Effect::Cancel,
        _ => {
            let known = ["approve", "skip", "fail", "cancel", "back STEP"];
            let help = suggest::help(&word, known);
            reader.refuse("value_invalid", node, format!("`{key}` cannot be `{word}`"), help);
            return None;
        }
    };
    Some(effect)
}

/// Reads `review`.
pub(super) fn read_review(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Option<Review> {
    let fields = reader.fields(node, "review", &[&keys::REVIEW])?;
    let verdicts = fields.find("verdicts").map(|it| read_verdicts(reader, it));
    let Verdicts { approve, revise, any } = verdicts.unwrap_or_else(Verdicts::usual);
    let read = fields.read(reader, "read", Reader::path);
    let unknown = fields.choice(reader, "unknown", &UNKNOWN).or(any);
    let judges = fields.read(reader, "judges", Reader::path);
    let count = fields.find("count").and_then(|it| read_count(reader, it, vars));
    let limits = fields.find("limits").map(|it| read_limits(reader, it, vars));
    let of = fields.require(reader, node, "of")?;
    Some(Review {
        of: reader.step(of, "review.of")?,
        read,
        judges,
        count,
        approve,
        revise,
        unknown: unknown.unwrap_or_default(),
        limits: limits.unwrap_or_default(),
        rules: fields.read(reader, "rules", read_beside),
    })
}

/// What happens where a review says none of its words.
const UNKNOWN: [(&str, Unknown); 2] = [("refuse", Unknown::Refuse), ("ask", Unknown::Ask)];

/// The words of a review: which approve, which have the work done again, and what any other leads to.
#[derive(Default)]
struct Verdicts {
    approve: Vec<String>,
    revise: Vec<String>,
    any: Option<Unknown>,
}

impl Verdicts {
    fn usual() -> Self {
        let (approve, revise) = (vec!["APPROVE".to_owned()], vec!["REVISE".to_owned()]);
        Self { approve, revise, any: None }
    }
}

/// Reads the words of a review. `*` stands for any other, unless it is a word like them.
fn read_verdicts(reader: &mut Reader<'_>, node: &Node) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for (word, value) in reader.pairs(node, "review.verdicts").unwrap_or_default() {
        let any =
            UNKNOWN.iter().find(|it| matches!(&value.content, Content::Text(text) if text == it.0));
        if let Some((_, any)) = any.filter(|_| word.key() == "*") {
            verdicts.any = Some(*any);
            continue;
        }
        let words = [("approve", true), ("revise", false)];
        let key = format!("review.verdicts.{}", word.key());
        let Some(is_yes) = reader.choice(value, &key, &words) else { continue };
        if verdicts.approve.iter().chain(&verdicts.revise).any(|it| it == word.key()) {
            let message = format!("verdict `{}` cannot both approve and revise", word.key());
            reader.refuse_value(word, message);
        }
        let words = if is_yes { &mut verdicts.approve } else { &mut verdicts.revise };
        words.push(word.key().to_owned());
    }
    if verdicts.approve.is_empty() && verdicts.revise.is_empty() && verdicts.any.is_some() {
        return Verdicts { any: verdicts.any, ..Verdicts::usual() };
    }
    if verdicts.approve.is_empty() || verdicts.revise.is_empty() {
        let message = "`review.verdicts` must have a word that approves and one that revises";
        reader.refuse_value(node, message);
    }
    verdicts
}

/// Reads the name of a file beside the run's folder.
fn read_beside(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<String> {
    let name = reader.text(node, key)?;
    if name.contains(['/', '\\']) || name.starts_with('.') {
        reader.refuse_value(node, format!("`{key}` names a file right beside the run's folder"));
        return None;
    }
    Some(name)
}

/// Reads `rules` of a step in language 1.
pub(super) fn read_rules(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Option<Rules> {
    let fields = reader.fields(node, "rules", &[&keys::RULES])?;
    let beside = fields.require(reader, node, "beside");
    let parts = fields.require(reader, node, "parts");
    let note = fields.require(reader, node, "note");
    let after = fields.require(reader, node, "after");
    let count = fields.find("count").and_then(|it| read_count(reader, it, vars));
    Some(Rules {
        beside: read_beside(reader, beside?, "rules.beside")?,
        parts: reader.path(parts?, "rules.parts")?,
        note: reader.path(note?, "rules.note")?,
        count,
        after: reader.count(after?, "rules.after")?,
    })
}

/// Reads the name of a variable that counts.
fn read_count(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Option<String> {
    let name = reader.text(node, "review.count")?;
    match vars.get(&name) {
        Some(var) if var.kind == VarKind::Integer => Some(name),
        Some(_) => {
            reader.refuse_value(
                node,
                format!("variable `{name}` is not an integer, and cannot count"),
            );
            None
        }
        None => {
            refuse_var(reader, node, &name, vars);
            None
        }
    }
}

fn refuse_var(reader: &mut Reader<'_>, node: &Node, name: &str, vars: &BTreeMap<String, Var>) {
    let near = suggest::help(name, vars.keys().map(String::as_str));
    let help = near.unwrap_or_else(|| "declare it under `vars` in `index.md`".to_owned());
    reader.refuse("var_unknown", node, format!("there is no variable `{name}`"), help);
}

/// Reads what happens after so many times: a word, or a list of it and actions.
fn read_limits(reader: &mut Reader<'_>, node: &Node, vars: &BTreeMap<String, Var>) -> Vec<Limit> {
    let known = [("ask", Spent::Ask), ("approve", Spent::Approve), ("fail", Spent::Fail)];
    let mut limits: Vec<Limit> = Vec::new();
    for (times, value) in reader.pairs(node, "review.limits").unwrap_or_default() {
        let after = read_times(reader, times, "review.limits");
        let (then, rest) = on::items_of(Some(value)).split_first().unwrap_or((value, &[]));
        let then = read_spent(reader, then, "review.limits", &known);
        let actions = on::read_actions(reader, rest, ("review.limits", vars), &on::HERE);
        let (Some(after), Some(then)) = (after, then) else { continue };
        if limits.iter().any(|it| it.after == after) {
            reader.refuse_value(times, format!("two limits apply after {after} times"));
        }
        limits.push(Limit { after, then, actions });
    }
    limits
}

/// Reads a key that is a number of times.
fn read_times(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<u32> {
    let times = node.key().parse().ok().filter(|it| *it > 0);
    if times.is_none() {
        let message =
            format!("`{key}` says after how many times, and `{}` is not that", node.key());
        reader.refuse("value_invalid", node, message, Some("write `{3: ask}`".to_owned()));
    }
    times
}

fn read_spent(
    reader: &mut Reader<'_>,
    node: &Node,
    key: &str,
    known: &[(&str, Spent)],
) -> Option<Spent> {
    let word = reader.text(node, key)?;
    if let Some(step) = word.strip_prefix("goto ") {
        return reader.find_step(node, step.trim()).map(Spent::Goto);
    }
    let found = known.iter().find(|(it, _)| *it == word).map(|(_, spent)| spent.clone());
    if found.is_none() {
        let words: Vec<&str> = known.iter().map(|(it, _)| *it).chain(["goto STEP"]).collect();
        let help = suggest::help(&word, words.iter().copied());
        reader.refuse("value_invalid", node, format!("`{key}` cannot be `{word}`"), help);
    }
    found
}

/// Reads `attempts: 3`, or `{3: ask}`.
pub(super) fn read_attempts(reader: &mut Reader<'_>, node: &Node) -> Option<Attempts> {
    let Content::Map(pairs) = &node.content else {
        let max = reader.count(node, "attempts")?;
        return Some(Attempts { max, then: Spent::Fail });
    };
    let [(times, then)] = pairs.as_slice() else {
        let help = Some("write `{3: ask}`".to_owned());
        reader.refuse("value_invalid", node, "`attempts` must be a map of one entry", help);
        return None;
    };
    let known = [("fail", Spent::Fail), ("warn", Spent::Warn), ("ask", Spent::Ask)];
    let (max, then) =
        (read_times(reader, times, "attempts"), read_spent(reader, then, "attempts", &known));
    Some(Attempts { max: max?, then: then? })
}

/// Reads `next`: a name, a map, or a list of them.
pub(super) fn read_next(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Vec<Successor> {
    let Content::List(items) = &node.content else {
        return read_successor(reader, node, vars).into_iter().collect();
    };
    if items.is_empty() {
        let message = "`next` must not be empty";
        let help = "leave it out for the step listed next, or write `FINISH`".to_owned();
        reader.refuse("value_invalid", node, message, help);
    }
    items.iter().filter_map(|it| read_successor(reader, it, vars)).collect()
}

fn read_successor(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Option<Successor> {
    if !matches!(node.content, Content::Map(_)) {
        let (to, fails) = reader.target(node, "next")?;
        return Some(Successor { to, when: None, actions: Vec::new(), fails });
    }
    let fields = reader.fields(node, "next", &[&keys::NEXT])?;
    let when = fields.read(reader, "when", Reader::condition);
    let actions = on::items_of(fields.find("do"));
    let actions = on::read_actions(reader, actions, ("next.do", vars), &on::HERE);
    let fails = fields.read(reader, "fails", Reader::boolean);
    let to = fields.require(reader, node, "to")?;
    let (to, is_failed) = reader.target(to, "next.to")?;
    let fails = fails.unwrap_or(is_failed);
    Some(Successor { to, when, actions, fails })
}

/// Reads new values of variables: name → expression.
pub(super) fn read_set(
    reader: &mut Reader<'_>,
    node: &Node,
    key: &str,
    vars: &BTreeMap<String, Var>,
) -> BTreeMap<String, Expression> {
    let mut set = BTreeMap::new();
    for (name, value) in reader.pairs(node, key).unwrap_or_default() {
        if !vars.contains_key(name.key()) {
            refuse_var(reader, name, name.key(), vars);
        }
        let expression = reader.expression(value, &format!("{key}.{}", name.key()));
        set.extend(expression.map(|it| (name.key().to_owned(), it)));
    }
    set
}

/// Checks that what a gate goes by is a review.
pub(super) fn check_reviewed(steps: &[Step], documents: &[Document], problems: &mut Problems) {
    for (step, document) in steps.iter().zip(documents) {
        let named = step.gate.as_ref().and_then(|it| it.reviewed.as_ref());
        let Some(named) = named else { continue };
        if steps.iter().any(|it| it.name == *named && it.review.is_some()) {
            continue;
        }
        let message = format!("step `{named}` is not a review");
        let label = document.front_label(&["gate", "reviewed"]);
        let help = "name a step that has `review`".to_owned();
        problems.push(Diagnostic::error("value_invalid", label, message).with_help(help));
    }
}

/// Finds each `next` in which every entry has a condition. Where none of them holds, the listed order
/// counts, and a guard that fails lets the run through.
pub(crate) fn find_open_routes(steps: &[Step], documents: &[Document]) -> Vec<Diagnostic> {
    let work = || steps.iter().filter(|it| it.name.as_str() != FINISH);
    let tell = |(step, document): (&Step, &Document)| {
        let last = step.next.len().checked_sub(1)?;
        if step.next.iter().any(|it| it.when.is_none()) {
            return None;
        }
        let following = work().skip_while(|it| it.name != step.name).nth(1);
        let following = following.map_or(FINISH, |it| it.name.as_str());
        let label = document.front_label(&["next", &last.to_string()]);
        let message = "`next` does not say where the run goes if no condition is true";
        let help = format!(
            "add a last entry without `when`; `- {following}` is where the listed order leads"
        );
        Some(Diagnostic::error("next_open", label, message).with_help(help))
    };
    steps.iter().zip(documents).filter_map(tell).collect()
}
