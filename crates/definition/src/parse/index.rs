//! The front matter of `index.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::{keys, node::Node, on, reader::Reader, values};
use crate::{
    Answers, Budget, Decider, End, Ends, FINISH, Flow, Limits, Money, StepName, Stretch, Var,
    Workflow, WorkflowName, suggest,
};

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
pub(super) fn read(reader: &mut Reader<'_>, name: &WorkflowName) -> Workflow {
    let mut head = Workflow { language: reader.language, ..Workflow::plain(name.clone()) };
    let front = reader.document.front.as_ref();
    let Some(fields) = front.and_then(|it| reader.fields(it, "", &[&keys::INDEX])) else {
        return head;
    };
    if let Some(node) = fields.find("name") {
        check_name(reader, node, name);
    }
    head.title = fields.read(reader, "title", Reader::text).unwrap_or(head.title);
    head.version = fields.read(reader, "version", Reader::text);
    head.decider = fields.choice(reader, "decider", &DECIDERS);
    head.key = fields.read(reader, "key", Reader::pattern);
    head.params = fields.read(reader, "params", Reader::schema);
    head.vars = fields.read(reader, "vars", read_vars).unwrap_or_default();
    if let Some(pairs) = fields.read(reader, "settings", Reader::pairs) {
        head.settings =
            pairs.iter().map(|(key, value)| (key.key().to_owned(), value.to_json())).collect();
    }
    head.flows = fields.read(reader, "flows", read_flows).unwrap_or_default();
    head.flow = if reader.language == 1 {
        fields.find("flow").and_then(|it| read_flow(reader, it, &head.flows))
    } else {
        head.flows.contains_key(DEFAULT_FLOW).then(|| DEFAULT_FLOW.to_owned())
    };
    head.stretch = Stretch {
        from: fields.read(reader, "from", Reader::expression),
        until: fields.read(reader, "until", Reader::expression),
    };
    if let Some(limits) = fields.find("limits") {
        read_limits(reader, limits, &mut head);
    }
    head.answers = fields.choice(reader, "gates", &ANSWERS).unwrap_or(head.answers);
    head.ends = fields.read(reader, "ends", read_ends).unwrap_or_default();
    if let Some(pairs) = fields.read(reader, "args", Reader::pairs) {
        let max = |(name, value): &(Node, Node)| {
            Some((name.key().to_owned(), reader.count(value, &format!("args.{}", name.key()))?))
        };
        head.args = pairs.iter().filter_map(max).collect();
    }
    if let Some(node) = fields.find("on") {
        on::read_index(reader, node, &mut head);
    }
    head.journal = fields.read(reader, "journal", Reader::boolean).unwrap_or_default();
    head
}

fn read_limits(reader: &mut Reader<'_>, node: &Node, head: &mut Workflow) {
    let Some(fields) = reader.fields(node, "limits", &[&keys::LIMITS]) else { return };
    let visits = fields.read(reader, "visits", Reader::count);
    head.limits = visits.map_or(head.limits, |visits_max| Limits { visits_max });
    let tokens = fields.read(reader, "tokens", Reader::expression);
    let ask = fields.read(reader, "ask", Reader::template);
    let money = fields.read(reader, "cost", |reader, max, key| {
        fields.require(reader, node, "prices")?;
        let max = reader.expression(max, key)?;
        Some(Money { max, prices: fields.read(reader, "prices", Reader::expression)? })
    });
    if tokens.is_some() || money.is_some() {
        head.budget = Some(Budget { tokens, money, ask });
    }
}

fn read_ends(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Ends> {
    let fields = reader.fields(node, key, &[&keys::ENDS])?;
    let early = fields.read(reader, "early", Reader::boolean).unwrap_or_default();
    let kept = fields.items(reader, "keep_key", |reader, it, key| reader.choice(it, key, &ENDS));
    Some(Ends { early, keep_key: kept.into_iter().collect() })
}

fn check_name(reader: &mut Reader<'_>, node: &Node, name: &WorkflowName) {
    let Some(text) = reader.text(node, "name").filter(|it| it != name.as_str()) else { return };
    let message = format!("`name` is `{text}`, but the folder is called `{name}`");
    reader.refuse("name_mismatched", node, message, Some("leave `name` out".to_owned()));
}

fn read_vars(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<BTreeMap<String, Var>> {
    let mut vars = BTreeMap::new();
    for (key, value) in reader.pairs(node, key)? {
        let name = key.key();
        if !is_identifier(name) {
            let help = "conditions say `vars.NAME`: letters, digits and `_`".to_owned();
            reader.refuse("value_invalid", key, format!("`{name}` cannot name a variable"), help);
            continue;
        }
        let var = values::read_var(reader, name, value);
        vars.extend(var.map(|it| (name.to_owned(), it)));
    }
    Some(vars)
}

/// Whether conditions can say `vars.NAME`.
fn is_identifier(name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphabetic() || it == '_';
    name.starts_with(is_letter) && name.chars().all(|it| is_letter(it) || it.is_ascii_digit())
}

fn read_flows(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<BTreeMap<String, Flow>> {
    let mut flows = BTreeMap::new();
    for (key, value) in reader.pairs(node, key)? {
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
    Some(flows)
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
