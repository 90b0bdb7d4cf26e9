//! `chores` of an index.

use std::collections::BTreeMap;

use super::{
    node::Node,
    reader::{Fields, Reader},
    rules::read_set,
    step::required,
};
use crate::{Chore, ChoreDeed, OnFailure, Publication, Template, Var};

/// The words for what can be done.
const DEEDS: [&str; 5] = ["rename_branch", "commit", "push", "publish", "checkout"];

/// What else a chore may say.
const OTHERS: [&str; 5] = ["name", "when", "set", "then", "on_failure"];

/// Reads `chores`: a list, since the first that is due is done first.
pub(super) fn read_chores(
    reader: &mut Reader<'_>,
    node: &Node,
    vars: &BTreeMap<String, Var>,
) -> Vec<Chore> {
    let mut chores: Vec<Chore> = Vec::new();
    for item in reader.list(node, "chores").unwrap_or_default() {
        let Some(chore) = read_chore(reader, item, vars) else { continue };
        if chores.iter().any(|it| it.name == chore.name) {
            reader.refuse_value(item, format!("there are two chores called `{}`", chore.name));
        }
        chores.push(chore);
    }
    chores
}

fn read_chore(reader: &mut Reader<'_>, node: &Node, vars: &BTreeMap<String, Var>) -> Option<Chore> {
    let known: Vec<&str> = OTHERS.iter().chain(&DEEDS).copied().collect();
    let fields = reader.fields(node, "chores", &known)?;
    let name = required(reader, node, "chores", fields.find("name"), "name");
    let name = name.and_then(|it| reader.text(it, "chores.name"));
    let when = required(reader, node, "chores", fields.find("when"), "when");
    let when = when.and_then(|it| reader.condition(it, "chores.when"));
    let set = fields.find("set").map(|it| read_set(reader, it, "chores.set", vars));
    let then = fields.find("then").and_then(|it| {
        let words = [("complete", true)];
        reader.choice(it, "chores.then", &words)
    });
    let words = [("refuse", OnFailure::Refuse), ("warn", OnFailure::Warn)];
    let on_failure =
        fields.find("on_failure").and_then(|it| reader.choice(it, "chores.on_failure", &words));
    if fields.find("set").is_none() && fields.find("then").is_none() {
        let message = "a chore without `set` and `then` stays due for ever".to_owned();
        let help = "set a variable that its `when` looks at, or write `then: complete`".to_owned();
        reader.refuse("chore_endless", node, message, help);
    }
    let deed = read_one(reader, node, fields)?;
    Some(Chore {
        name: name?,
        when: when?,
        deed,
        set: set.unwrap_or_default(),
        completes: then.unwrap_or_default(),
        on_failure: on_failure.unwrap_or_default(),
    })
}

fn read_one(reader: &mut Reader<'_>, node: &Node, fields: Fields<'_>) -> Option<ChoreDeed> {
    let mut said = DEEDS.iter().filter_map(|word| Some((*word, fields.find(word)?)));
    let (Some((word, value)), None) = (said.next(), said.next()) else {
        let help = format!("each has just one of {}", DEEDS.join(", "));
        reader.refuse("value_invalid", node, "a chore must say one deed", help);
        return None;
    };
    read_deed(reader, word, value)
}

fn read_deed(reader: &mut Reader<'_>, word: &str, node: &Node) -> Option<ChoreDeed> {
    let key = format!("chores.{word}");
    Some(match word {
        "rename_branch" => {
            let fields = reader.fields(node, &key, &["from", "to"])?;
            let from = read_text(reader, node, (&key, fields), "from");
            let to = read_text(reader, node, (&key, fields), "to");
            ChoreDeed::RenameBranch { from: from?, to: to? }
        }
        "commit" => read_commit(reader, node, &key)?,
        "push" => {
            let fields = reader.fields(node, &key, &["remote"])?;
            ChoreDeed::Push { remote: read_text(reader, node, (&key, fields), "remote")? }
        }
        "publish" => ChoreDeed::Publish(read_publication(reader, node, &key)?),
        _ => {
            let fields = reader.fields(node, &key, &["branch", "from"])?;
            let from =
                fields.find("from").and_then(|it| reader.template(it, "chores.checkout.from"));
            ChoreDeed::Checkout { branch: read_text(reader, node, (&key, fields), "branch")?, from }
        }
    })
}

/// Reads a template that must be there.
fn read_text(
    reader: &mut Reader<'_>,
    node: &Node,
    (key, fields): (&str, Fields<'_>),
    name: &str,
) -> Option<Template> {
    let found = required(reader, node, key, fields.find(name), name)?;
    reader.template(found, &format!("{key}.{name}"))
}

fn read_commit(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<ChoreDeed> {
    let fields = reader.fields(node, key, &["paths", "message", "else"])?;
    let paths = required(reader, node, key, fields.find("paths"), "paths");
    let paths = paths.and_then(|it| reader.expression(it, &format!("{key}.paths")));
    let message = read_text(reader, node, (key, fields), "message");
    let otherwise = fields
        .find("else")
        .and_then(|it| reader.choice(it, &format!("{key}.else"), &[("changed", true)]));
    Some(ChoreDeed::Commit {
        paths: paths?,
        message: message?,
        or_changed: otherwise.unwrap_or_default(),
    })
}

fn read_publication(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Publication> {
    let fields = reader.fields(node, key, &["files", "body", "closes"])?;
    let files = required(reader, node, key, fields.find("files"), "files")?;
    let files = reader.list(files, &format!("{key}.files"))?;
    Some(Publication {
        files: files.iter().filter_map(|it| reader.path(it, &format!("{key}.files"))).collect(),
        body: fields.find("body").and_then(|it| reader.path(it, &format!("{key}.body"))),
        closes: fields.find("closes").and_then(|it| reader.template(it, &format!("{key}.closes"))),
    })
}
