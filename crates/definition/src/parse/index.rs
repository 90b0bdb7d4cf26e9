//! The front matter of `index.md`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{keys, node::Node, on, reader::Reader, step::required, values};
use crate::{
    Action, Answers, Budget, Chore, Decider, End, Ends, FINISH, Flow, Limits, Money, Move, Pattern,
    Rule, Schema, StepName, Stretch, Var, WorkflowName, suggest,
};

/// What the front matter of an index says.
pub(super) struct Head {
    pub(super) title: Option<String>,
    pub(super) version: Option<String>,
    pub(super) decider: Option<Decider>,
    pub(super) key: Option<Pattern>,
    pub(super) params: Option<Schema>,
    pub(super) vars: BTreeMap<String, Var>,
    pub(super) settings: Map<String, Value>,
    pub(super) flows: BTreeMap<String, Flow>,
    pub(super) flow: Option<String>,
    pub(super) limits: Limits,
    pub(super) stretch: Stretch,
    pub(super) budget: Option<Budget>,
    pub(super) answers: Answers,
    pub(super) ends: Ends,
    pub(super) journal: bool,
    pub(super) args: BTreeMap<String, u32>,
    pub(super) moves: Vec<Move>,
    pub(super) rules: Vec<Rule>,
    pub(super) chores: Vec<Chore>,
    pub(super) adopt: Vec<Action>,
}

/// The flow of a run that names none.
const DEFAULT_FLOW: &str = "default";

/// The words for which answers count at a gate.
pub(super) const ANSWERS: [(&str, Answers); 2] =
    [("verified", Answers::Verified), ("relayed", Answers::Relayed)];

const DECIDERS: [(&str, Decider); 3] =
    [("declared", Decider::Declared), ("client", Decider::Client), ("ai", Decider::Ai)];

const ENDS: [(&str, End); 3] =
    [("completed", End::Completed), ("failed", End::Failed), ("cancelled", End::Cancelled)];

/// Reads the front matter of the index. Without any, everything has its default.
pub(super) fn read(reader: &mut Reader<'_>, name: &WorkflowName) -> Head {
    let mut head = Head {
        title: None,
        version: None,
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
        journal: false,
        args: BTreeMap::new(),
        moves: Vec::new(),
        rules: Vec::new(),
        chores: Vec::new(),
        adopt: Vec::new(),
    };
    let front = reader.document.front.as_ref();
    let Some(fields) = front.and_then(|it| reader.fields(it, "", &[&keys::INDEX])) else {
        return head;
    };
    if let Some(node) = fields.find("name") {
        check_name(reader, node, name);
    }
    head.title = fields.find("title").and_then(|it| reader.text(it, "title"));
    head.version = fields.find("version").and_then(|it| reader.text(it, "version"));
    head.decider = fields.find("decider").and_then(|it| reader.choice(it, "decider", &DECIDERS));
    head.key = fields.find("key").and_then(|it| reader.pattern(it, "key"));
    head.params = fields.find("params").and_then(|it| reader.schema(it, "params"));
    head.vars = fields.find("vars").map(|it| read_vars(reader, it)).unwrap_or_default();
    if let Some(pairs) = fields.find("settings").and_then(|it| reader.pairs(it, "settings")) {
        head.settings =
            pairs.iter().map(|(key, value)| (key.key().to_owned(), value.to_json())).collect();
    }
    head.flows = fields.find("flows").map(|it| read_flows(reader, it)).unwrap_or_default();
    head.flow = if reader.language == 1 {
        fields.find("flow").and_then(|it| read_flow(reader, it, &head.flows))
    } else {
        head.flows.contains_key(DEFAULT_FLOW).then(|| DEFAULT_FLOW.to_owned())
    };
    head.stretch = Stretch {
        from: fields.find("from").and_then(|it| reader.expression(it, "from")),
        until: fields.find("until").and_then(|it| reader.expression(it, "until")),
    };
    if let Some(limits) = fields.find("limits") {
        read_limits(reader, limits, &mut head);
    }
    let answers = fields.find("gates").and_then(|it| reader.choice(it, "gates", &ANSWERS));
    head.answers = answers.unwrap_or(head.answers);
    head.ends = fields.find("ends").and_then(|it| read_ends(reader, it)).unwrap_or_default();
    if let Some(pairs) = fields.find("args").and_then(|it| reader.pairs(it, "args")) {
        let max = |(name, value): &(Node, Node)| {
            Some((name.key().to_owned(), reader.count(value, &format!("args.{}", name.key()))?))
        };
        head.args = pairs.iter().filter_map(max).collect();
    }
    if let Some(node) = fields.find("on") {
        on::read_index(reader, node, &mut head);
    }
    let journal = fields.find("journal").and_then(|it| reader.boolean(it, "journal"));
    head.journal = journal.unwrap_or_default();
    head
}

fn read_limits(reader: &mut Reader<'_>, node: &Node, head: &mut Head) {
    let Some(fields) = reader.fields(node, "limits", &[&keys::LIMITS]) else { return };
    let visits = fields.find("visits").and_then(|it| reader.count(it, "limits.visits"));
    head.limits = visits.map_or(head.limits, |visits_max| Limits { visits_max });
    let tokens = fields.find("tokens").and_then(|it| reader.expression(it, "limits.tokens"));
    let ask = fields.find("ask").and_then(|it| reader.template(it, "limits.ask"));
    let money = fields.find("cost").and_then(|max| {
        let prices = required(reader, node, "limits", fields.find("prices"), "prices")?;
        let max = reader.expression(max, "limits.cost")?;
        Some(Money { max, prices: reader.expression(prices, "limits.prices")? })
    });
    if tokens.is_some() || money.is_some() {
        head.budget = Some(Budget { tokens, money, ask });
    }
}

fn read_ends(reader: &mut Reader<'_>, node: &Node) -> Option<Ends> {
    let fields = reader.fields(node, "ends", &[&keys::ENDS])?;
    let early = fields.find("early").and_then(|it| reader.boolean(it, "ends.early"));
    let kept = fields.find("keep_key").and_then(|it| reader.list(it, "ends.keep_key"));
    let kept = kept.unwrap_or_default().iter();
    let keep_key = kept.filter_map(|it| reader.choice(it, "ends.keep_key", &ENDS)).collect();
    Some(Ends { early: early.unwrap_or_default(), keep_key })
}

fn check_name(reader: &mut Reader<'_>, node: &Node, name: &WorkflowName) {
    let Some(text) = reader.text(node, "name").filter(|it| it != name.as_str()) else { return };
    let message = format!("`name` is `{text}`, but the folder is called `{name}`");
    reader.refuse("name_mismatched", node, message, Some("leave `name` out".to_owned()));
}

fn read_vars(reader: &mut Reader<'_>, node: &Node) -> BTreeMap<String, Var> {
    let mut vars = BTreeMap::new();
    for (key, value) in reader.pairs(node, "vars").unwrap_or_default() {
        let name = key.key();
        if !is_identifier(name) {
            let help = "conditions say `vars.NAME`: letters, digits and `_`".to_owned();
            reader.refuse("value_invalid", key, format!("`{name}` cannot name a variable"), help);
            continue;
        }
        let var = values::read_var(reader, name, value);
        vars.extend(var.map(|it| (name.to_owned(), it)));
    }
    vars
}

/// Whether conditions can say `vars.NAME`.
fn is_identifier(name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphabetic() || it == '_';
    name.starts_with(is_letter) && name.chars().all(|it| is_letter(it) || it.is_ascii_digit())
}

fn read_flows(reader: &mut Reader<'_>, node: &Node) -> BTreeMap<String, Flow> {
    let mut flows = BTreeMap::new();
    for (key, value) in reader.pairs(node, "flows").unwrap_or_default() {
        let name = key.key();
        let path = format!("flows.{name}");
        let items = if value.is_null() { None } else { reader.list(value, &path) };
        let steps = items.unwrap_or_default().iter();
        let skips: BTreeSet<StepName> = steps.filter_map(|it| reader.step(it, &path)).collect();
        let mut work = reader.steps.iter().filter(|it| it.as_str() != FINISH);
        if !skips.is_empty() && work.all(|it| skips.contains(it)) {
            reader.refuse_value(key, format!("flow `{name}` leaves out every step"));
        }
        flows.insert(name.to_owned(), Flow { skips });
    }
    flows
}

fn read_flow(
    reader: &mut Reader<'_>,
    node: &Node,
    flows: &BTreeMap<String, Flow>,
) -> Option<String> {
    let name = reader.text(node, "flow")?;
    if flows.contains_key(&name) {
        return Some(name);
    }
    let help = suggest::help(&name, flows.keys().map(String::as_str))
        .unwrap_or_else(|| "declare it under `flows`".to_owned());
    reader.refuse("flow_unknown", node, format!("there is no flow `{name}`"), help);
    None
}
