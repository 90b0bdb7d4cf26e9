//! `on`: what a run does by itself, and what it can be made to do by name.
//!
//! Everything that happens is a list of actions. What differs is the moment, and which actions are
//! possible then.

use std::{collections::BTreeMap, slice::from_ref};

use super::{
    keys,
    node::{Content, Node},
    reader::{Fields, Reader},
    rules::read_set,
};
use crate::{
    Action, Chore, ChoreDeed, Condition, Consent, Deed, Insertion, Moments, Move, OnFailure,
    Publication, Rotation, Rule, Template, Var, Workflow, suggest,
};

type Vars = BTreeMap<String, Var>;

/// What a run can do to itself without leaving its step.
pub(super) const HERE: [&str; 10] = [
    "set",
    "merge",
    "note",
    "error",
    "add_item",
    "close_item",
    "find_item",
    "rotate",
    "insert",
    "remove",
];
/// What the server can do in the repository.
const CHORES: [&str; 5] = ["rename_branch", "commit", "push", "publish", "checkout"];

/// Reads `on` of an index.
pub(super) fn read_index(reader: &mut Reader<'_>, node: &Node, head: &mut Workflow) {
    let Some(fields) = reader.fields(node, "on", &[&keys::ON_INDEX]) else { return };
    let vars = std::mem::take(&mut head.vars);
    let adopt = items_of(fields.find("adopt"));
    head.adopt = read_actions(reader, adopt, ("on.adopt", &vars), &with("goto"));
    head.moves = read_moves(reader, fields.find("call"), &vars);
    for (name, value) in named(reader, fields.find("change"), "on.change") {
        let key = format!("on.change.{}", name.key());
        let Some((fields, deeds)) = read_reaction(reader, value, &key, &[]) else { continue };
        let when = read_when(reader, name, fields);
        let actions = read_deeds(reader, value, (fields, deeds), (&key, &vars), &with("goto"));
        head.rules.extend(when.map(|when| Rule { name: name.key().to_owned(), when, actions }));
    }
    for (name, value) in named(reader, fields.find("while"), "on.while") {
        head.chores.extend(read_chore(reader, (name, value), &vars));
    }
    head.vars = vars;
}

/// Reads `on` of a step.
pub(super) fn read_step(reader: &mut Reader<'_>, node: &Node, vars: &Vars) -> Moments {
    let Some(fields) = reader.fields(node, "on", &[&keys::ON_STEP]) else {
        return Moments::default();
    };
    let mut read = |moment: &str| {
        let items = items_of(fields.find(moment));
        read_actions(reader, items, (&format!("on.{moment}"), vars), &HERE)
    };
    Moments { enter: read("enter"), done: read("done"), back: read("back") }
}

fn with(word: &'static str) -> Vec<&'static str> {
    HERE.into_iter().chain([word]).collect()
}

/// Reads a map of names.
fn named<'n>(reader: &mut Reader<'_>, node: Option<&'n Node>, key: &str) -> &'n [(Node, Node)] {
    let pairs = node.and_then(|it| reader.pairs(it, key)).unwrap_or_default();
    for (at, (name, _)) in pairs.iter().enumerate() {
        let mut before = pairs.iter().take(at);
        if name.key().trim().is_empty() {
            reader.refuse_value(name, format!("an entry of `{key}` has no name"));
        } else if before.any(|(it, _)| it.key() == name.key()) {
            reader.refuse_value(name, format!("`{key}` has two entries `{}`", name.key()));
        }
    }
    pairs
}

/// Reads the keys of an entry, and returns them with its actions: those of `do`, or the one that is
/// written in its place. Beside `when` and `do` it may have keys of its `own`.
fn read_reaction<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    key: &'n str,
    own: &[&str],
) -> Option<(Fields<'n>, &'n [Node])> {
    if let Content::List(items) = &node.content {
        return Some((Fields::none(key), items));
    }
    let fields = reader.fields(node, key, &[&keys::REACTION, &keys::ACTION])?;
    let others = keys::REACTION.known.iter().filter(|it| !["when", "do"].contains(it));
    for other in others.filter(|it| !own.contains(it)) {
        if let Some(found) = fields.find_key(other) {
            reader.refuse("key_unknown", found, format!("`{key}` has no key `{other}`"), None);
        }
    }
    let Some(deeds) = fields.find("do") else { return Some((fields, from_ref(node))) };
    if let Some(word) = said(fields).first().map(|(word, _)| *word) {
        reader.refuse_value(node, format!("`{key}` has both `do` and `{word}`"));
    }
    Some((fields, items_of(Some(deeds))))
}

/// One value stands for a list of one.
pub(super) fn items_of(node: Option<&Node>) -> &[Node] {
    match node.map(|it| (it, &it.content)) {
        Some((_, Content::List(items))) => items,
        Some((node, _)) => from_ref(node),
        None => &[],
    }
}

/// Reads a condition without which an entry makes no sense.
fn read_when(reader: &mut Reader<'_>, node: &Node, fields: Fields<'_>) -> Option<Condition> {
    fields.require(reader, node, "when")?;
    fields.read(reader, "when", Reader::condition)
}

fn read_moves(reader: &mut Reader<'_>, node: Option<&Node>, vars: &Vars) -> Vec<Move> {
    let mut moves = Vec::new();
    let pairs = named(reader, node, "on.call");
    for (name, value) in pairs {
        let key = format!("on.call.{}", name.key());
        let own = ["else", "needs", "consent"];
        let Some((fields, deeds)) = read_reaction(reader, value, &key, &own) else { continue };
        moves.push(Move {
            name: name.key().to_owned(),
            when: fields.read(reader, "when", Reader::condition),
            otherwise: fields.read(reader, "else", Reader::text),
            needs: fields.read(reader, "needs", Reader::texts).unwrap_or_default(),
            consent: fields.read(reader, "consent", read_consent),
            actions: read_deeds(reader, value, (fields, deeds), (&key, vars), &with("goto")),
        });
    }
    for (name, value) in pairs {
        check_otherwise(reader, (name, value), &moves);
    }
    moves
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

/// Reads `STEP`, or `{STEP: condition}`.
fn read_consent(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Consent> {
    if !matches!(node.content, Content::Map(_)) {
        return Some(Consent { step: reader.step(node, key)?, when: None });
    }
    let (step, when) = read_pair(reader, node, key, "STEP: condition")?;
    Some(Consent { step: reader.step(step, key)?, when: reader.condition(when, key) })
}

/// Reads a map of one entry.
fn read_pair<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    key: &str,
    form: &str,
) -> Option<(&'n Node, &'n Node)> {
    if let Content::Map(pairs) = &node.content
        && let [(name, value)] = pairs.as_slice()
    {
        return Some((name, value));
    }
    let message = format!("`{key}` must be a map of one entry");
    reader.refuse("value_invalid", node, message, Some(format!("write `{{{form}}}`")));
    None
}

/// Reads an entry of `while`: its first action is the server's, the others follow from it.
fn read_chore(reader: &mut Reader<'_>, (name, node): (&Node, &Node), vars: &Vars) -> Option<Chore> {
    let key = format!("on.while.{}", name.key());
    let (fields, deeds) = read_reaction(reader, node, &key, &["else"])?;
    let when = read_when(reader, name, fields);
    let words = [("refuse", OnFailure::Refuse), ("warn", OnFailure::Warn)];
    let on_failure = fields.choice(reader, "else", &words);
    let (first, rest) = deeds.split_first().unwrap_or((node, &[]));
    let found = if is_whole(node, deeds) {
        find_deed(reader, node, fields, &CHORES)
    } else {
        find_bare(reader, first, &key, &CHORES)
    };
    let deed = found.and_then(|(word, value)| read_server_deed(reader, word, value, &key));
    let (ends, rest): (Vec<&Node>, Vec<&Node>) =
        rest.iter().partition(|it| it.child("complete").is_some());
    for end in &ends {
        let said = find_bare(reader, end, &key, &["complete"]);
        let is_end = said.and_then(|(_, it)| reader.boolean(it, &format!("{key}.complete")));
        if is_end == Some(false) {
            reader.refuse_value(end, format!("`{key}.complete` must be true"));
        }
    }
    let actions: Vec<Action> =
        rest.iter().filter_map(|it| read_action(reader, it, (&key, vars), &HERE)).collect();
    if deed.is_some() && ends.is_empty() && rest.is_empty() {
        let message = "a chore after which nothing changes stays due forever".to_owned();
        let help = "set a variable that its `when` looks at, or write `complete: true`".to_owned();
        reader.refuse("chore_endless", node, message, help);
    }
    Some(Chore {
        name: name.key().to_owned(),
        when: when?,
        deed: deed?,
        actions,
        completes: !ends.is_empty(),
        on_failure: on_failure.unwrap_or_default(),
    })
}

/// Whether the one action of an entry is written in place of `do`.
fn is_whole(node: &Node, deeds: &[Node]) -> bool {
    deeds.first().is_some_and(|it| std::ptr::eq(it, node))
}

fn read_deeds(
    reader: &mut Reader<'_>,
    node: &Node,
    (fields, deeds): (Fields<'_>, &[Node]),
    (key, vars): (&str, &Vars),
    possible: &[&'static str],
) -> Vec<Action> {
    if is_whole(node, deeds) {
        // Its condition is the entry's own.
        let found = find_deed(reader, node, fields, possible);
        let deed = found.and_then(|it| read_deed(reader, it, key, vars));
        return deed.map(|deed| Action { when: None, deed }).into_iter().collect();
    }
    read_actions(reader, deeds, (&format!("{key}.do"), vars), possible)
}

/// Reads a list of actions, of which only some are possible.
pub(super) fn read_actions(
    reader: &mut Reader<'_>,
    items: &[Node],
    key: (&str, &Vars),
    possible: &[&'static str],
) -> Vec<Action> {
    items.iter().filter_map(|it| read_action(reader, it, key, possible)).collect()
}

fn read_action(
    reader: &mut Reader<'_>,
    node: &Node,
    (key, vars): (&str, &Vars),
    possible: &[&'static str],
) -> Option<Action> {
    let fields = reader.fields(node, key, &[&keys::ACTION])?;
    let when = fields.read(reader, "when", Reader::condition);
    let found = find_deed(reader, node, fields, possible);
    Some(Action { when, deed: read_deed(reader, found?, key, vars)? })
}

/// Returns the one thing that an action says which cannot have a condition of its own.
fn find_bare<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    key: &'n str,
    possible: &[&'static str],
) -> Option<(&'static str, &'n Node)> {
    let fields = reader.fields(node, key, &[&keys::ACTION])?;
    if let Some(when) = fields.find("when") {
        reader.refuse_value(when, format!("the `when` of `{key}` counts for this action"));
    }
    find_deed(reader, node, fields, possible)
}

/// Returns the one thing that an action says.
fn find_deed<'n>(
    reader: &mut Reader<'_>,
    node: &Node,
    fields: Fields<'n>,
    possible: &[&'static str],
) -> Option<(&'static str, &'n Node)> {
    let said = said(fields);
    if let [(word, value)] = said.as_slice()
        && possible.contains(word)
    {
        return Some((word, value));
    }
    let help = format!("each has just one of {}", possible.join(", "));
    reader.refuse("value_invalid", node, format!("`{}` must say one action", fields.name), help);
    None
}

/// Returns the actions that a map says.
fn said<'n>(fields: Fields<'n>) -> Vec<(&'static str, &'n Node)> {
    let words = keys::ACTION.known.iter().filter(|it| **it != "when");
    words.filter_map(|word| Some((*word, fields.find(word)?))).collect()
}

fn read_deed(
    reader: &mut Reader<'_>,
    (word, node): (&str, &Node),
    key: &str,
    vars: &Vars,
) -> Option<Deed> {
    let key = &format!("{key}.{word}");
    Some(match word {
        "set" => Deed::Set(read_set(reader, node, key, vars)),
        "merge" => Deed::Merge(reader.expression(node, key)?),
        "goto" => Deed::Goto(read_goto(reader, node, key)?),
        "note" => Deed::Note(reader.template(node, key)?),
        "error" => Deed::Error(reader.template(node, key)?),
        "add_item" => Deed::AddItem(reader.template(node, key)?),
        "close_item" => {
            let texts = items_of(Some(node)).iter().filter_map(|it| reader.template(it, key));
            Deed::CloseItem(texts.collect())
        }
        "find_item" => Deed::FindItem(reader.template(node, key)?),
        "rotate" => read_rotation(reader, node, key)?,
        "remove" => Deed::Remove(
            items_of(Some(node)).iter().filter_map(|it| reader.path(it, key)).collect(),
        ),
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

/// Reads `findings`, `whole`, or either with a text that is archived as well.
fn read_rotation(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Deed> {
    let words = [("findings", Rotation::Findings), ("whole", Rotation::Whole)];
    if !matches!(node.content, Content::Map(_)) {
        return Some(Deed::Rotate(reader.choice(node, key, &words)?, None));
    }
    let (how, with) = read_pair(reader, node, key, "findings: text")?;
    Some(Deed::Rotate(reader.choice(how, key, &words)?, Some(reader.template(with, key)?)))
}

fn read_insertion(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Insertion> {
    let form = "PATH: {HEADING: line}";
    let (path, inner) = read_pair(reader, node, key, form)?;
    let (heading, line) = read_pair(reader, inner, key, form)?;
    Some(Insertion {
        path: reader.path(path, key)?,
        heading: reader.text(heading, key)?,
        line: reader.template(line, key)?,
    })
}

fn read_server_deed(
    reader: &mut Reader<'_>,
    word: &str,
    node: &Node,
    key: &str,
) -> Option<ChoreDeed> {
    let key = &format!("{key}.{word}");
    Some(match word {
        "rename_branch" => {
            let (from, to) = read_pair(reader, node, key, "FROM: TO")?;
            ChoreDeed::RenameBranch {
                from: reader.template(from, key)?,
                to: reader.template(to, key)?,
            }
        }
        "commit" => read_commit(reader, node, key)?,
        "push" => ChoreDeed::Push { remote: reader.template(node, key)? },
        "publish" => ChoreDeed::Publish(read_publication(reader, node, key)?),
        _ if matches!(node.content, Content::Map(_)) => {
            let (branch, from) = read_pair(reader, node, key, "BRANCH: FROM")?;
            let branch = reader.template(branch, key)?;
            ChoreDeed::Checkout { branch, from: Some(reader.template(from, key)?) }
        }
        _ => ChoreDeed::Checkout { branch: reader.template(node, key)?, from: None },
    })
}

fn read_commit(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<ChoreDeed> {
    let fields = reader.fields(node, key, &[&keys::COMMIT])?;
    fields.require(reader, node, "paths");
    let paths = fields.read(reader, "paths", Reader::expression);
    fields.require(reader, node, "message");
    let message = fields.read(reader, "message", Reader::template);
    let or_changed = fields.choice(reader, "else", &[("changed", true)]).unwrap_or_default();
    Some(ChoreDeed::Commit { paths: paths?, message: message?, or_changed })
}

fn read_publication(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Publication> {
    let fields = reader.fields(node, key, &[&keys::PUBLISH])?;
    fields.require(reader, node, "files")?;
    let files = fields.items(reader, "files", Reader::path);
    let body = if reader.language == 1 {
        fields.read(reader, "body", Reader::path)
    } else {
        files.iter().find(|it| it.source().ends_with(".md")).cloned()
    };
    let closes = fields.read(reader, "closes", Reader::template);
    Some(Publication { files, body, closes })
}
