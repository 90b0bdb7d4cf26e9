//! Language 1, written as language 2: the tree of a front matter is rewritten before it is read.
//!
//! Every value keeps its place, so that what is told of it points into the text as it is. What does
//! not have the form that language 1 asks for is left where language 2 refuses it. Keys that need no
//! rewriting are read by the readers themselves (`retired` in `keys.rs`).

use super::node::{Content, Node};

/// Rewrites the front matter of an index.
pub(super) fn rewrite_index(front: &mut Node) {
    if let Some(budget) = front.take("budget") {
        let limits = front.take("limits");
        front.put("limits", rewrite_budget(budget, limits));
    }
    let mut on = empty(front);
    if let Some(mut moves) = front.take("moves") {
        values(&mut moves).for_each(|it| {
            edit(it, "consent", rewrite_consent);
            edit(it, "do", rewrite_actions);
        });
        on.put("call", moves);
    }
    if let Some(mut rules) = front.take("rules") {
        values(&mut rules).for_each(|it| edit(it, "do", rewrite_actions));
        on.put("change", by_name(rules));
    }
    if let Some(mut chores) = front.take("chores") {
        values(&mut chores).for_each(rewrite_chore);
        on.put("while", by_name(chores));
    }
    if let Some(adopt) = front.take("adopt") {
        on.put("adopt", rewrite_actions(adopt));
    }
    put_on(front, on);
}

/// Rewrites the front matter of a step.
pub(super) fn rewrite_step(front: &mut Node) {
    let mut on = empty(front);
    if let Some(set) = front.take("enter") {
        on.put("enter", single("set", set));
    }
    let drops = front.take("drops").map(|it| single("remove", it));
    let set = child(front, "each").and_then(|it| it.take("set")).map(|it| single("set", it));
    if let Some(done) = list(drops.into_iter().chain(set).collect()) {
        on.put("done", done);
    }
    if let Some(drops) = child(front, "gate").and_then(|it| it.take("drops")) {
        on.put("back", single("remove", drops));
    }
    put_on(front, on);
    edit(front, "attempts", rewrite_attempts);
    edit(front, "next", |it| each(it, rewrite_successor));
    edit(front, "produces", |it| each(it, rewrite_product));
    if let Some(options) = child(front, "gate").and_then(|it| child(it, "options")) {
        values(options).for_each(|it| flatten(it, "back"));
    }
    if let Some(review) = child(front, "review") {
        rewrite_verdicts(review);
        edit(review, "limits", rewrite_limits);
    }
}

/// `budget` is a part of `limits`, and its `money` is called `cost`.
fn rewrite_budget(budget: Node, limits: Option<Node>) -> Node {
    let mut limits = limits.unwrap_or_else(|| empty(&budget));
    let Content::Map(mut pairs) = budget.content else { return budget };
    for (key, _) in pairs.iter_mut().filter(|(key, _)| key.key() == "money") {
        *key = key.beside(Content::Text("cost".to_owned()));
    }
    if let Content::Map(others) = &mut limits.content {
        others.append(&mut pairs);
    }
    limits
}

fn put_on(front: &mut Node, on: Node) {
    if !matches!(&on.content, Content::Map(pairs) if pairs.is_empty()) {
        front.put("on", on);
    }
}

fn empty(at: &Node) -> Node {
    at.beside(Content::Map(Vec::new()))
}

/// A map of one field.
fn single(key: &str, value: Node) -> Node {
    let mut map = empty(&value);
    map.put(key, value);
    map
}

/// A map of one field, whose key is written somewhere.
fn pair(key: Node, value: Node) -> Node {
    let place = empty(&key);
    place.beside(Content::Map(vec![(key.into_key(), value)]))
}

/// A list, unless it is empty.
fn list(items: Vec<Node>) -> Option<Node> {
    let place = empty(items.first()?);
    Some(place.beside(Content::List(items)))
}

fn child<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Content::Map(pairs) = &mut node.content else { return None };
    pairs.iter_mut().find(|(it, _)| it.key() == key).map(|(_, value)| value)
}

/// The values of a map or of a list.
fn values(node: &mut Node) -> Box<dyn Iterator<Item = &mut Node> + '_> {
    match &mut node.content {
        Content::Map(pairs) => Box::new(pairs.iter_mut().map(|(_, value)| value)),
        Content::List(items) => Box::new(items.iter_mut()),
        Content::Null
        | Content::Boolean(_)
        | Content::Integer(_)
        | Content::Float(_)
        | Content::Text(_) => Box::new(std::iter::empty()),
    }
}

/// Rewrites a field, if it is there.
fn edit(node: &mut Node, key: &str, rewrite: impl FnOnce(Node) -> Node) {
    if let Some(value) = child(node, key) {
        let old = std::mem::replace(value, value.beside(Content::Null));
        *value = rewrite(old);
    }
}

/// Rewrites each value of a list, or the one that stands for it.
fn each(mut node: Node, rewrite: impl Fn(&mut Node)) -> Node {
    if let Content::List(items) = &mut node.content {
        items.iter_mut().for_each(rewrite);
    } else {
        rewrite(&mut node);
    }
    node
}

/// `[{name: X, …}]` becomes `{X: {…}}`.
fn by_name(node: Node) -> Node {
    let place = empty(&node);
    let Content::List(items) = node.content else { return node };
    let named = items.into_iter().map(|mut it| {
        let name = it.take("name").unwrap_or_else(|| it.beside(Content::Text(String::new())));
        (name.into_key(), it)
    });
    place.beside(Content::Map(named.collect()))
}

/// `{back: X}` becomes `back X`.
fn flatten(node: &mut Node, word: &str) {
    let [step] = node.take_all([word]);
    if let Some(step) = step.map(Node::into_key) {
        *node = step.beside(Content::Text(format!("{word} {}", step.key())));
    }
}

/// `{step: X, when: C}` becomes `{X: C}`, or `X` alone.
fn rewrite_consent(mut node: Node) -> Node {
    match node.take_all(["step", "when"]) {
        [Some(step), Some(when)] => pair(step, when),
        [Some(step), None] => step,
        [None, _] => node,
    }
}

fn rewrite_actions(node: Node) -> Node {
    each(node, rewrite_action)
}

fn rewrite_action(node: &mut Node) {
    if let Some(var) = node.take("take_item") {
        let next = var.beside(Content::Text("items.next".to_owned()));
        node.put("set", pair(var, next));
    }
    edit(node, "rotate", |mut it| match it.take_all(["archive", "with"]) {
        [how, Some(with)] => {
            let findings = || with.beside(Content::Text("findings".to_owned()));
            pair(how.unwrap_or_else(findings), with)
        }
        [Some(how), None] => how,
        [None, None] if matches!(&it.content, Content::Map(left) if left.is_empty()) => {
            it.beside(Content::Text("findings".to_owned()))
        }
        [None, None] => it,
    });
    edit(node, "insert", |mut it| match it.take_all(["path", "heading", "line"]) {
        [Some(path), Some(heading), Some(line)] => pair(path, pair(heading, line)),
        _ => it,
    });
}

fn rewrite_chore(node: &mut Node) {
    const DEEDS: [&str; 5] = ["rename_branch", "commit", "push", "publish", "checkout"];
    if !matches!(node.content, Content::Map(_)) {
        return;
    }
    let mut actions = Vec::new();
    for word in DEEDS {
        if let Some(mut value) = node.take(word) {
            value = match word {
                "rename_branch" => match value.take_all(["from", "to"]) {
                    [Some(from), Some(to)] => pair(from, to),
                    _ => value,
                },
                "push" => match value.take_all(["remote"]) {
                    [Some(remote)] => remote,
                    [None] => value,
                },
                "checkout" => match value.take_all(["branch", "from"]) {
                    [Some(branch), Some(from)] => pair(branch, from),
                    [Some(branch), None] => branch,
                    [None, _] => value,
                },
                _ => value,
            };
            actions.push(single(word, value));
        }
    }
    actions.extend(node.take("set").map(|it| single("set", it)));
    if let Some(then) = node.take("then") {
        let is_end = matches!(&then.content, Content::Text(it) if it == "complete");
        let end = if is_end { then.beside(Content::Boolean(true)) } else { then };
        actions.push(single("complete", end));
    }
    if let Some(it) = node.take("on_failure") {
        node.put("else", it);
    }
    let actions = node.beside(Content::List(actions));
    node.put("do", actions);
}

/// `{max: 3, then: ask}` becomes `{3: ask}`, or `3` alone.
fn rewrite_attempts(mut node: Node) -> Node {
    match node.take_all(["max", "then"]) {
        [Some(max), Some(mut then)] => {
            flatten(&mut then, "goto");
            pair(max, then)
        }
        [Some(max), None] => max,
        [None, _] => node,
    }
}

/// `{to: X, set: S, merge: M}` becomes `{to: X, do: [{set: S}, {merge: M}]}`.
fn rewrite_successor(node: &mut Node) {
    let said = ["set", "merge"].into_iter().filter_map(|it| Some(single(it, node.take(it)?)));
    if let Some(actions) = list(said.collect()) {
        node.put("do", actions);
    }
}

/// `words: {min: 1, max: 9}` becomes `[1, 9]`, and `covers: {file: F, pattern: P}` `[F, P]`.
fn rewrite_product(node: &mut Node) {
    edit(node, "words", |mut it| match it.take_all(["min", "max"]) {
        [Some(min), None] => min,
        [min, Some(max)] => {
            let min = min.unwrap_or_else(|| max.beside(Content::Integer(0.into())));
            it.beside(Content::List(vec![min, max]))
        }
        [None, None] => it,
    });
    edit(node, "covers", |mut it| match it.take_all(["file", "pattern"]) {
        [Some(file), Some(pattern)] => it.beside(Content::List(vec![file, pattern])),
        _ => it,
    });
}

/// `approve: [A], revise: [B]` becomes `verdicts: {A: approve, B: revise}`.
fn rewrite_verdicts(review: &mut Node) {
    let (approve, revise) = (review.take("approve"), review.take("revise"));
    let Some(place) = approve.as_ref().or(revise.as_ref()).map(empty) else { return };
    let mut verdicts = Vec::new();
    for (words, default, effect) in [(approve, "APPROVE", "approve"), (revise, "REVISE", "revise")]
    {
        let default = place.beside(Content::Text(default.to_owned()));
        let words = words.unwrap_or_else(|| place.beside(Content::List(vec![default])));
        let Content::List(words) = words.content else {
            review.put("verdicts", words);
            return;
        };
        for word in words {
            let effect = word.beside(Content::Text(effect.to_owned()));
            verdicts.push((word.into_key(), effect));
        }
    }
    review.put("verdicts", place.beside(Content::Map(verdicts)));
}

/// `[{after: 2, then: approve, set: S}]` becomes `{2: [approve, {set: S}]}`.
fn rewrite_limits(node: Node) -> Node {
    let place = empty(&node);
    let Content::List(items) = node.content else { return node };
    let mut limits = Vec::new();
    for mut item in items {
        let after = item.take("after").unwrap_or_else(|| empty(&item));
        let mut then = item.take("then").unwrap_or_else(|| empty(&item));
        flatten(&mut then, "goto");
        let mut rest: Vec<Node> =
            item.take("set").map(|it| single("set", it)).into_iter().collect();
        // What is left is nothing that a limit has.
        let is_known = matches!(&item.content, Content::Map(left) if left.is_empty());
        rest.extend((!is_known).then_some(item));
        if rest.is_empty() {
            limits.push((after.into_key(), then));
        } else {
            rest.insert(0, then);
            let place = after.beside(Content::List(rest));
            limits.push((after.into_key(), place));
        }
    }
    place.beside(Content::Map(limits))
}
