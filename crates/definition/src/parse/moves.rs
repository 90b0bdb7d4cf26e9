//! `moves` and `rules` of an index.

use std::collections::BTreeMap;

use super::{
    node::{Content, Node},
    reader::{Fields, Reader},
    rules::read_set,
    step::required,
};
use crate::{
    Action, Consent, Deed, Insertion, Move, Rotation, Rule, StepName, Template, Var, suggest,
};

/// The words for what can be done.
const DEEDS: [&str; 10] = [
    "set",
    "goto",
    "note",
    "error",
    "add_item",
    "close_item",
    "find_item",
    "take_item",
    "rotate",
    "insert",
];

type Vars = BTreeMap<String, Var>;

/// Reads `moves`: a map of names.
pub(super) fn read_moves(reader: &mut Reader<'_>, node: &Node, vars: &Vars) -> Vec<Move> {
    let mut moves = Vec::new();
    let pairs = reader.pairs(node, "moves").unwrap_or_default();
    for (name, value) in pairs {
        let key = format!("moves.{}", name.key());
        let known = ["when", "else", "needs", "consent", "do"];
        let Some(fields) = reader.fields(value, &key, &known) else { continue };
        moves.push(Move {
            name: name.key().to_owned(),
            when: fields.find("when").and_then(|it| reader.condition(it, &format!("{key}.when"))),
            otherwise: fields.find("else").and_then(|it| reader.text(it, &format!("{key}.else"))),
            needs: fields
                .find("needs")
                .and_then(|it| reader.texts(it, &format!("{key}.needs")))
                .unwrap_or_default(),
            consent: fields.find("consent").and_then(|it| read_consent(reader, it, &key)),
            actions: read_actions(reader, value, fields, (&key, vars)),
        });
    }
    for (name, value) in pairs {
        check_otherwise(reader, (name, value), &moves);
    }
    moves
}

/// Reads `rules`: a list, since their order counts.
pub(super) fn read_rules(reader: &mut Reader<'_>, node: &Node, vars: &Vars) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for item in reader.list(node, "rules").unwrap_or_default() {
        let Some(fields) = reader.fields(item, "rules", &["name", "when", "do"]) else { continue };
        let name = required(reader, item, "rules", fields.find("name"), "name");
        let name = name.and_then(|it| reader.text(it, "rules.name"));
        let when = required(reader, item, "rules", fields.find("when"), "when");
        let when = when.and_then(|it| reader.condition(it, "rules.when"));
        let actions = read_actions(reader, item, fields, ("rules", vars));
        let (Some(name), Some(when)) = (name, when) else { continue };
        if rules.iter().any(|it| it.name == name) {
            reader.refuse_value(item, format!("there are two rules called `{name}`"));
        }
        rules.push(Rule { name, when, actions });
    }
    rules
}

fn check_otherwise(reader: &mut Reader<'_>, (name, value): (&Node, &Node), moves: &[Move]) {
    let found = moves.iter().find(|it| it.name == name.key());
    let Some(otherwise) = found.and_then(|it| it.otherwise.as_ref()) else { return };
    let node = value.child("else").unwrap_or(value);
    match moves.iter().find(|it| it.name == *otherwise) {
        None => {
            let near = suggest::help(otherwise, moves.iter().map(|it| it.name.as_str()));
            let message = format!("there is no move `{otherwise}`");
            reader.refuse("value_invalid", node, message, near);
        }
        // It could lead back.
        Some(it) if it.otherwise.is_some() => {
            let message = format!("move `{otherwise}` has an `else` of its own");
            let help = "name a move that is made as it is".to_owned();
            reader.refuse("value_invalid", node, message, help);
        }
        Some(_) => {}
    }
}

fn read_consent(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Consent> {
    let key = format!("{key}.consent");
    let fields = reader.fields(node, &key, &["step", "when"])?;
    let step = required(reader, node, &key, fields.find("step"), "step")?;
    let step: StepName = reader.step(step, &format!("{key}.step"))?;
    let when = fields.find("when").and_then(|it| reader.condition(it, &format!("{key}.when")));
    Some(Consent { step, when })
}

fn read_actions(
    reader: &mut Reader<'_>,
    node: &Node,
    fields: Fields<'_>,
    (key, vars): (&str, &Vars),
) -> Vec<Action> {
    let Some(deeds) = required(reader, node, key, fields.find("do"), "do") else {
        return Vec::new();
    };
    read_deeds(reader, deeds, (&format!("{key}.do"), vars))
}

/// Reads a list of deeds.
pub(super) fn read_deeds(
    reader: &mut Reader<'_>,
    node: &Node,
    (key, vars): (&str, &Vars),
) -> Vec<Action> {
    let items = reader.list(node, key).unwrap_or_default();
    items.iter().filter_map(|it| read_action(reader, it, (key, vars))).collect()
}

fn read_action(reader: &mut Reader<'_>, node: &Node, (key, vars): (&str, &Vars)) -> Option<Action> {
    let known: Vec<&str> = DEEDS.iter().copied().chain(["when"]).collect();
    let fields = reader.fields(node, key, &known)?;
    let when = fields.find("when").and_then(|it| reader.condition(it, &format!("{key}.when")));
    let mut said = DEEDS.iter().filter_map(|word| Some((*word, fields.find(word)?)));
    let (Some((word, value)), None) = (said.next(), said.next()) else {
        let help = format!("each has just one of {}", DEEDS.join(", "));
        reader.refuse("value_invalid", node, format!("`{key}` must say one deed"), help);
        return None;
    };
    let deed = read_deed(reader, (word, value), &format!("{key}.{word}"), vars)?;
    Some(Action { when, deed })
}

fn read_deed(
    reader: &mut Reader<'_>,
    (word, node): (&str, &Node),
    key: &str,
    vars: &Vars,
) -> Option<Deed> {
    Some(match word {
        "set" => Deed::Set(read_set(reader, node, key, vars)),
        "goto" => Deed::Goto(read_goto(reader, node, key)?),
        "note" => Deed::Note(reader.template(node, key)?),
        "error" => Deed::Error(reader.template(node, key)?),
        "add_item" => Deed::AddItem(reader.template(node, key)?),
        "close_item" => Deed::CloseItem(read_templates(reader, node, key)),
        "find_item" => Deed::FindItem(reader.template(node, key)?),
        "take_item" => {
            let name = reader.text(node, key)?;
            if !vars.contains_key(&name) {
                let near = suggest::help(&name, vars.keys().map(String::as_str));
                reader.refuse("var_unknown", node, format!("there is no variable `{name}`"), near);
            }
            Deed::TakeItem(name)
        }
        "rotate" => {
            let words = [("findings", Rotation::Findings), ("whole", Rotation::Whole)];
            if !matches!(node.content, Content::Map(_)) {
                return Some(Deed::Rotate(reader.choice(node, key, &words)?, None));
            }
            let fields = reader.fields(node, key, &["archive", "with"])?;
            let how = fields.find("archive").map(|it| reader.choice(it, key, &words));
            let with = fields.find("with").and_then(|it| reader.template(it, key));
            Deed::Rotate(how.unwrap_or(Some(Rotation::Findings))?, with)
        }
        _ => Deed::Insert(read_insertion(reader, node, key)?),
    })
}

fn read_goto(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Template> {
    let template = reader.template(node, key)?;
    if template.is_plain() {
        reader.step(node, key)?;
    }
    Some(template)
}

fn read_templates(reader: &mut Reader<'_>, node: &Node, key: &str) -> Vec<Template> {
    if let Content::List(items) = &node.content {
        return items.iter().filter_map(|it| reader.template(it, key)).collect();
    }
    reader.template(node, key).into_iter().collect()
}

fn read_insertion(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Insertion> {
    let fields = reader.fields(node, key, &["path", "heading", "line"])?;
    let path = required(reader, node, key, fields.find("path"), "path")?;
    let heading = required(reader, node, key, fields.find("heading"), "heading")?;
    let line = required(reader, node, key, fields.find("line"), "line")?;
    Some(Insertion {
        path: reader.path(path, &format!("{key}.path"))?,
        heading: reader.text(heading, &format!("{key}.heading"))?,
        line: reader.template(line, &format!("{key}.line"))?,
    })
}
