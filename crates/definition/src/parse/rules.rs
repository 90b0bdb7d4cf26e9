//! The rules on leaving a step: gate, review, attempts, next.

use std::collections::BTreeMap;

use super::{
    Document, Problems,
    index::ANSWERS,
    node::{Content, Node},
    reader::Reader,
    step::required,
};
use crate::{
    Attempts, Diagnostic, Effect, Expression, Gate, GateOption, Limit, Review, Rules, Spent, Step,
    StepName, Successor, Template, Unknown, Var, VarKind, suggest,
};

/// Reads `gate: true`, or a map. `gate: false` is not a gate.
pub(super) fn read_gate(reader: &mut Reader<'_>, node: &Node, step: &StepName) -> Option<Gate> {
    let mut gate = Gate {
        ask: default_question(step),
        show: Vec::new(),
        options: vec![
            GateOption { name: "approve".to_owned(), effect: Effect::Approve },
            GateOption { name: "reject".to_owned(), effect: Effect::Back(step.clone()) },
        ],
        answers: None,
        during: None,
        unless: None,
        reviewed: None,
        holds: None,
        rounds_max: None,
        drops: Vec::new(),
        ahead: true,
    };
    if let Content::Boolean(is_on) = node.content {
        return is_on.then_some(gate);
    }
    if !matches!(node.content, Content::Map(_)) {
        reader.refuse_kind(node, "gate", "true or a map");
        return None;
    }
    let known = [
        "ask", "show", "options", "answers", "during", "unless", "reviewed", "holds", "rounds",
        "drops", "ahead",
    ];
    let fields = reader.fields(node, "gate", &known)?;
    let ask = fields.find("ask").and_then(|it| reader.template(it, "gate.ask"));
    gate.ask = ask.unwrap_or(gate.ask);
    gate.show = read_paths(reader, fields.find("show"), "gate.show");
    gate.drops = read_paths(reader, fields.find("drops"), "gate.drops");
    if let Some(options) = fields.find("options") {
        gate.options = read_options(reader, options);
    }
    gate.answers =
        fields.find("answers").and_then(|it| reader.choice(it, "gate.answers", &ANSWERS));
    gate.during = fields.find("during").and_then(|it| reader.condition(it, "gate.during"));
    gate.unless = fields.find("unless").and_then(|it| reader.condition(it, "gate.unless"));
    gate.reviewed = fields.find("reviewed").and_then(|it| reader.step(it, "gate.reviewed"));
    gate.holds = fields.find("holds").and_then(|it| reader.condition(it, "gate.holds"));
    gate.rounds_max = fields.find("rounds").and_then(|it| reader.count(it, "gate.rounds"));
    let ahead = fields.find("ahead").and_then(|it| reader.boolean(it, "gate.ahead"));
    gate.ahead = ahead.unwrap_or(gate.ahead);
    Some(gate)
}

/// Reads a list of paths of artifacts.
pub(super) fn read_paths(reader: &mut Reader<'_>, node: Option<&Node>, key: &str) -> Vec<Template> {
    let items = node.and_then(|it| reader.list(it, key)).unwrap_or_default();
    items.iter().filter_map(|it| reader.path(it, key)).collect()
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

fn read_effect(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Effect> {
    if matches!(node.content, Content::Map(_)) {
        let fields = reader.fields(node, key, &["back"])?;
        let back = required(reader, node, key, fields.find("back"), "back")?;
        return reader.step(back, &format!("{key}.back")).map(Effect::Back);
    }
    let word = reader.text(node, key)?;
    let effect = match word.as_str() {
        "approve" => Effect::Approve,
        "skip" => Effect::Skip,
        "fail" => Effect::Fail,
        "cancel" => Effect::Cancel,
        _ => {
            let known = ["approve", "skip", "fail", "cancel", "{back: STEP}"];
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
    let known = ["of", "read", "judges", "count", "approve", "revise", "unknown", "limits"];
    let fields = reader.fields(node, "review", &known)?;
    let mut words = |key: &str, default: &str| {
        let Some(node) = fields.find(key) else { return vec![default.to_owned()] };
        let words = reader.texts(node, &format!("review.{key}"));
        if words.as_ref().is_some_and(Vec::is_empty) {
            reader.refuse_value(node, format!("`review.{key}` must not be empty"));
        }
        words.unwrap_or_default()
    };
    let (approve, revise) = (words("approve", "APPROVE"), words("revise", "REVISE"));
    if let Some(both) = approve.iter().find(|it| revise.contains(it)) {
        let message = format!("verdict `{both}` cannot both approve and revise");
        reader.refuse_value(fields.find("revise").unwrap_or(node), message);
    }
    let read = fields.find("read").map(|it| reader.path(it, "review.read"));
    let choices = [("refuse", Unknown::Refuse), ("ask", Unknown::Ask)];
    let unknown =
        fields.find("unknown").and_then(|it| reader.choice(it, "review.unknown", &choices));
    let judges = fields.find("judges").and_then(|it| reader.path(it, "review.judges"));
    let count = fields.find("count").and_then(|it| read_count(reader, it, vars));
    let limits = fields.find("limits").map(|it| read_limits(reader, it, vars));
    let of = required(reader, node, "review", fields.find("of"), "of")?;
    Some(Review {
        of: reader.step(of, "review.of")?,
        read: read.flatten(),
        judges,
        count,
        approve,
        revise,
        unknown: unknown.unwrap_or_default(),
        limits: limits.unwrap_or_default(),
    })
}

/// Reads `rules`.
pub(super) fn read_rules(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Option<Rules> {
    let fields = reader.fields(node, "rules", &["beside", "parts", "note", "count", "after"])?;
    let beside = required(reader, node, "rules", fields.find("beside"), "beside");
    let parts = required(reader, node, "rules", fields.find("parts"), "parts");
    let note = required(reader, node, "rules", fields.find("note"), "note");
    let after = required(reader, node, "rules", fields.find("after"), "after");
    let count = fields.find("count").and_then(|it| read_count(reader, it, vars));
    let name = reader.text(beside?, "rules.beside")?;
    if name.contains(['/', '\\']) || name.starts_with('.') {
        reader.refuse_value(beside?, "`rules.beside` names a file right beside the run's folder");
        return None;
    }
    Some(Rules {
        beside: name,
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

fn read_limits(reader: &mut Reader<'_>, node: &Node, vars: &BTreeMap<String, Var>) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    for item in reader.list(node, "review.limits").unwrap_or_default() {
        let Some(limit) = read_limit(reader, item, vars) else { continue };
        if limits.iter().any(|it| it.after == limit.after) {
            reader.refuse_value(item, format!("two limits apply after {} times", limit.after));
        }
        limits.push(limit);
    }
    limits
}

fn read_limit(reader: &mut Reader<'_>, node: &Node, vars: &BTreeMap<String, Var>) -> Option<Limit> {
    let key = "review.limits";
    let fields = reader.fields(node, key, &["after", "then", "set"])?;
    let after = required(reader, node, key, fields.find("after"), "after");
    let then = required(reader, node, key, fields.find("then"), "then");
    let after = after.and_then(|it| reader.count(it, "review.limits.after"));
    let known = [("ask", Spent::Ask), ("approve", Spent::Approve), ("fail", Spent::Fail)];
    let then = then.and_then(|it| read_spent(reader, it, "review.limits.then", &known));
    let set = fields.find("set").map(|it| read_set(reader, it, "review.limits.set", vars));
    Some(Limit { after: after?, then: then?, set: set.unwrap_or_default() })
}

fn read_spent(
    reader: &mut Reader<'_>,
    node: &Node,
    key: &str,
    known: &[(&str, Spent)],
) -> Option<Spent> {
    if matches!(node.content, Content::Map(_)) {
        let fields = reader.fields(node, key, &["goto"])?;
        let step = required(reader, node, key, fields.find("goto"), "goto")?;
        return reader.step(step, &format!("{key}.goto")).map(Spent::Goto);
    }
    let word = reader.text(node, key)?;
    let found = known.iter().find(|(it, _)| *it == word).map(|(_, spent)| spent.clone());
    if found.is_none() {
        let words: Vec<&str> = known.iter().map(|(it, _)| *it).chain(["{goto: STEP}"]).collect();
        let help = suggest::help(&word, words.iter().copied());
        reader.refuse("value_invalid", node, format!("`{key}` cannot be `{word}`"), help);
    }
    found
}

/// Reads `attempts: 3`, or a map.
pub(super) fn read_attempts(reader: &mut Reader<'_>, node: &Node) -> Option<Attempts> {
    if !matches!(node.content, Content::Map(_)) {
        let max = reader.count(node, "attempts")?;
        return Some(Attempts { max, then: Spent::Fail });
    }
    let fields = reader.fields(node, "attempts", &["max", "then"])?;
    let known = [("fail", Spent::Fail), ("warn", Spent::Warn), ("ask", Spent::Ask)];
    let then = fields.find("then").map(|it| read_spent(reader, it, "attempts.then", &known));
    let max = required(reader, node, "attempts", fields.find("max"), "max")?;
    let max = reader.count(max, "attempts.max")?;
    Some(Attempts { max, then: then.unwrap_or(Some(Spent::Fail))? })
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
        let to = reader.target(node, "next")?;
        return Some(Successor { to, when: None, set: BTreeMap::new(), merge: None, fails: false });
    }
    let fields = reader.fields(node, "next", &["to", "when", "set", "merge", "fails"])?;
    let when = fields.find("when").map(|it| reader.condition(it, "next.when"));
    let set = fields.find("set").map(|it| read_set(reader, it, "next.set", vars));
    let merge = fields.find("merge").map(|it| reader.expression(it, "next.merge"));
    let fails = fields.find("fails").and_then(|it| reader.boolean(it, "next.fails"));
    let to = required(reader, node, "next", fields.find("to"), "to")?;
    Some(Successor {
        to: reader.target(to, "next.to")?,
        when: when.flatten(),
        set: set.unwrap_or_default(),
        merge: merge.flatten(),
        fails: fails.unwrap_or_default(),
    })
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
