//! `each`: the parts that a step is worked on in.

use super::{
    Document, Problems, keys,
    node::{Content, Node},
    reader::Reader,
};
use crate::{
    Diagnostic, Each, Order, Otherwise, PartId, PartSource, PartSpec, Step, Whole, suggest,
};

const WHOLE: [(&str, Whole); 3] =
    [("no", Whole::Refused), ("all", Whole::All), ("found", Whole::Found)];
const ORDERS: [(&str, Order); 3] =
    [("parallel", Order::Parallel), ("sequence", Order::Sequence), ("declared", Order::Declared)];
const MODES: [(&str, &str); 3] =
    [("sequential", "sequential"), ("parallel", "parallel"), ("human_gate", "human_gate")];

/// Reads `each`.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<Each> {
    let fields = reader.fields(node, "each", &[&keys::EACH])?;
    let sources: Vec<&str> =
        ["from", "list", "context"].into_iter().filter(|it| fields.find(it).is_some()).collect();
    if let [first, second, ..] = sources.as_slice() {
        reader.refuse_value(node, format!("`each` has both `{first}` and `{second}`"));
    }
    let otherwise = fields.find("otherwise");
    if let Some(otherwise) = otherwise.filter(|_| fields.find("from").is_none()) {
        reader.refuse_value(otherwise, "`each.otherwise` goes with `from` only");
    }
    let otherwise_when = fields.find("otherwise_when");
    if let Some(when) = otherwise_when.filter(|_| otherwise.is_none()) {
        reader.refuse_value(when, "`each.otherwise_when` goes with `otherwise` only");
    }
    let otherwise_when = otherwise_when.and_then(|it| reader.condition(it, "each.otherwise_when"));
    let order = fields.find("order").map(|it| reader.choice(it, "each.order", &ORDERS));
    let parts = fields.require(reader, node, "parts");
    let parts = parts.and_then(|it| reader.text(it, "each.parts"));
    let from = if let Some(path) = fields.find("from") {
        let otherwise = match otherwise {
            None => Otherwise::Refused,
            Some(it) if matches!(it.content, Content::List(_)) => {
                Otherwise::Parts(read_parts(reader, it, "each.otherwise"))
            }
            Some(it) => Otherwise::Text(reader.text(it, "each.otherwise")?),
        };
        PartSource::File { path: reader.path(path, "each.from")?, otherwise }
    } else if let Some(list) = fields.find("list") {
        // A text is an expression that gives a list.
        if reader.language == 1 || !matches!(list.content, Content::Text(_)) {
            PartSource::Listed(read_parts(reader, list, "each.list"))
        } else {
            PartSource::Context(reader.expression(list, "each.list")?)
        }
    } else if let Some(context) = fields.find("context") {
        PartSource::Context(reader.expression(context, "each.context")?)
    } else {
        PartSource::Shared
    };
    let default = match from {
        PartSource::Listed(_) => Order::Parallel,
        PartSource::Shared | PartSource::File { .. } | PartSource::Context(_) => Order::Declared,
    };
    let only = fields.read(reader, "only", Reader::condition);
    let whole = fields.read(reader, "whole", read_whole);
    let keeps = fields.read(reader, "keep", Reader::boolean);
    let is_kept = reader.language != 1 && matches!(from, PartSource::File { .. });
    let keeps = keeps.unwrap_or(is_kept);
    let (order, whole) = (order.unwrap_or(Some(default))?, whole.unwrap_or_default());
    Some(Each { parts: parts?, from, order, only, whole, otherwise_when, keeps })
}

/// Reads `true`, `false` or `found`.
fn read_whole(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Whole> {
    if let Content::Boolean(is_whole) = node.content {
        return Some(if is_whole { Whole::All } else { Whole::Refused });
    }
    reader.choice(node, key, &WHOLE)
}

fn read_parts(reader: &mut Reader<'_>, node: &Node, key: &str) -> Vec<PartSpec> {
    let Some(items) = reader.list(node, key) else { return Vec::new() };
    if items.is_empty() {
        reader.refuse_value(node, format!("`{key}` must not be empty"));
    }
    let mut parts: Vec<(&Node, PartSpec)> = Vec::new();
    for item in items {
        let Some(part) = read_part(reader, item, key) else { continue };
        if parts.iter().any(|(_, it)| it.id == part.id) {
            reader.refuse_value(item, format!("there are two parts `{}`", part.id));
        }
        parts.push((item, part));
    }
    for (item, part) in &parts {
        let ids = || parts.iter().map(|(_, it)| it.id.as_str());
        for after in part.after.iter().filter(|it| !ids().any(|id| id == it.as_str())) {
            let help = suggest::nearest(after.as_str(), ids());
            let help = help.map(|it| format!("did you mean `{it}`?"));
            reader.refuse("part_unknown", item, format!("there is no part `{after}`"), help);
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Reads a part: an id, or a map that says more.
fn read_part(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<PartSpec> {
    let plain = |id: PartId| PartSpec {
        title: id.to_string(),
        id,
        mode: "sequential".to_owned(),
        files: Vec::new(),
        after: Vec::new(),
    };
    if !matches!(node.content, Content::Map(_)) {
        return read_id(reader, node, key).map(plain);
    }
    let fields = reader.fields(node, key, &[&keys::PART])?;
    let id = fields.require(reader, node, "id")?;
    let mut part = plain(read_id(reader, id, &format!("{key}.id"))?);
    if let Some(title) = fields.find("title") {
        part.title = reader.text(title, &format!("{key}.title"))?;
    }
    if let Some(mode) = fields.find("mode") {
        part.mode = reader.choice(mode, &format!("{key}.mode"), &MODES)?.to_owned();
    }
    part.after = fields.items(reader, "after", read_id);
    if let Some(files) = fields.find("files") {
        part.files = reader.texts(files, &format!("{key}.files"))?;
    }
    Some(part)
}

fn read_id(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<PartId> {
    let text = reader.text(node, key)?;
    let id = PartId::parse(&text);
    if let Err(error) = &id {
        reader.refuse_value(node, format!("`{text}` cannot be the id of a part: {error}"));
    }
    id.ok()
}

/// Checks that each set of parts that a step shares is planned by some other step.
pub(super) fn check_shared(steps: &[Step], documents: &[Document], problems: &mut Problems) {
    let planned = || {
        let sets = steps.iter().filter_map(|it| it.each.as_ref());
        sets.filter(|it| !matches!(it.from, PartSource::Shared)).map(|it| it.parts.as_str())
    };
    for (step, document) in steps.iter().zip(documents) {
        let Some(each) = &step.each else { continue };
        if !matches!(each.from, PartSource::Shared) || planned().any(|it| it == each.parts) {
            continue;
        }
        let message = format!("no step plans the parts `{}`", each.parts);
        let near = suggest::nearest(&each.parts, planned());
        let help = near.map_or_else(
            || "say where they come from: `from` or `list`".to_owned(),
            |it| format!("did you mean `{it}`?"),
        );
        let label = document.front_label(&["each", "parts"]);
        problems.push(Diagnostic::error("parts_unknown", label, message).with_help(help));
    }
}
