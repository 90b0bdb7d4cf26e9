//! A step's file: its sections, and its front matter.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use super::{
    each, keys, markdown,
    node::{Content, Node},
    on,
    reader::Reader,
    rules,
};
use crate::{
    Check, CommandCheck, Criterion, Diagnostic, Evidence, Label, Need, Presence, Product, Step,
    StepName, Timeout, Var, Work,
    text::{outside_fences, parse_heading},
};

/// How long a command of `checks` may take if it does not say so itself.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10 * 60);

const WORK: [(&str, Work); 2] = [("none", Work::None), ("agent", Work::Agent)];
const EVIDENCE: [(&str, Evidence); 3] =
    [("strict", Evidence::Strict), ("warn", Evidence::Warn), ("off", Evidence::Off)];

/// Reads a step. `None` if its text cannot be used; mistakes in its front matter leave the rest
/// standing, so that other steps' mistakes are found too.
pub(super) fn read(
    mut reader: Reader<'_>,
    name: &StepName,
    vars: &BTreeMap<String, Var>,
) -> Option<Step> {
    let document = reader.document;
    let text = &document.body.text;
    let mut step = Step {
        goal: markdown::find_goal(text).unwrap_or_default(),
        text: text.clone(),
        file: document.file.clone(),
        ..Step::plain(name.clone())
    };
    let front = document.front.as_ref();
    if let Some(fields) = front.and_then(|it| reader.fields(it, "", &[&keys::STEP])) {
        let reader = &mut reader;
        step.title = fields.read(reader, "title", Reader::text).unwrap_or(step.title);
        step.agent = fields.read(reader, "agent", Reader::template);
        step.work = fields.choice(reader, "work", &WORK).unwrap_or_default();
        step.needs = fields.items(reader, "needs", read_need);
        step.produces = fields.items(reader, "produces", read_product);
        step.criteria = fields.read(reader, "criteria", read_criteria).unwrap_or_default();
        step.evidence = fields.choice(reader, "evidence", &EVIDENCE).unwrap_or_default();
        let after = fields.read(reader, "timeout", Reader::duration);
        step.timeout = after.map(|after| Timeout { after });
        let limit = after.filter(|_| reader.language != 1).unwrap_or(CHECK_TIMEOUT);
        let check = |reader: &mut Reader<'_>, it: &Node, _: &str| read_check(reader, it, limit);
        step.checks = fields.items(reader, "checks", check);
        step.gate = fields.find("gate").and_then(|it| rules::read_gate(reader, it, name));
        step.rules = fields.find("rules").and_then(|it| rules::read_rules(reader, it, vars));
        step.review = fields.find("review").and_then(|it| rules::read_review(reader, it, vars));
        step.attempts = fields.find("attempts").and_then(|it| rules::read_attempts(reader, it));
        step.next =
            fields.find("next").map(|it| rules::read_next(reader, it, vars)).unwrap_or_default();
        step.on = fields.find("on").map(|it| on::read_step(reader, it, vars)).unwrap_or_default();
        step.each = fields.find("each").and_then(|it| each::read(reader, it));
        step.skip_when = fields.read(reader, "skip_when", Reader::condition);
        step.lease = fields.read(reader, "lease", Reader::duration);
    }
    let sections = markdown::find_sections(text);
    let guidance = section(&mut reader, &step, "Orchestrator Guidance", sections.guidance);
    let instructions = section(&mut reader, &step, "Client Instructions", sections.instructions);
    step.guidance = guidance?;
    step.instructions = instructions?;
    Some(step)
}

/// Takes a mandatory section out of a step's text. A step without work may lack it.
fn section(
    reader: &mut Reader<'_>,
    step: &Step,
    title: &str,
    range: Option<Range<usize>>,
) -> Option<String> {
    let found = range.and_then(|it| step.text.get(it)).unwrap_or_default().trim();
    if !found.is_empty() || step.work == Work::None {
        return Some(found.to_owned());
    }
    let file = &step.file;
    let message =
        format!("Mandatory '# {title}' section not found or is empty in step file: {file}");
    let (label, help) = near_miss(reader, step, title)
        .unwrap_or_else(|| (Label::whole(file), markdown::open_fence_help(reader.document)));
    reader.problems.push(Diagnostic::error("section_missing", label, message).with_help(help));
    None
}

/// Finds a heading that was meant, but is not written as it must be.
fn near_miss(reader: &Reader<'_>, step: &Step, title: &str) -> Option<(Label, Option<String>)> {
    let is_meant = |line: &str| {
        let words = parse_heading(line.trim()).map(|it| it.text.split_whitespace().collect());
        words.is_some_and(|it: Vec<&str>| it.join(" ").eq_ignore_ascii_case(title))
    };
    let (start, line) = outside_fences(&step.text).filter(|(_, line)| is_meant(line)).last()?;
    let indent = line.len() - line.trim_start().len();
    let width = u32::try_from(line.trim().chars().count()).unwrap_or(1);
    let label = reader.document.body_label(start + indent, width);
    let is_right = line.trim().eq_ignore_ascii_case(&format!("# {title}"));
    let help = if is_right {
        "there is nothing under this heading".to_owned()
    } else {
        format!("write exactly `# {title}`")
    };
    Some((label, Some(help)))
}

fn read_need(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Need> {
    if !matches!(node.content, Content::Map(_)) {
        let path = reader.path(node, key)?;
        return Some(Need { path, when: None, presence: Presence::Required });
    }
    let fields = reader.fields(node, key, &[&keys::NEED])?;
    let when = fields.read(reader, "when", Reader::condition);
    let path = fields.require(reader, node, "path")?;
    let presence = fields.read(reader, "optional", read_presence).unwrap_or_default();
    Some(Need { path: reader.path(path, "needs.path")?, when, presence })
}

/// Reads `true`, `false` or `found`.
fn read_presence(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Presence> {
    if let Content::Boolean(is_optional) = node.content {
        return Some(if is_optional { Presence::Optional } else { Presence::Required });
    }
    reader.choice(node, key, &[("found", Presence::Found)])
}

fn read_product(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Product> {
    if !matches!(node.content, Content::Map(_)) {
        let path = reader.path(node, key)?;
        return Some(Product { path, checks: Vec::new(), when: None });
    }
    let fields = reader.fields(node, key, &[&keys::PRODUCT])?;
    let mut checks = Vec::new();
    let is_not_empty = fields.read(reader, "not_empty", Reader::boolean);
    let words = fields.read(reader, "words", read_words);
    let is_one = matches!(words, Some(Check::Words { min: Some(1), max: None }));
    checks.extend((is_one || is_not_empty == Some(true)).then_some(Check::NotEmpty));
    let headings = fields.read(reader, "headings", Reader::texts);
    checks.extend(headings.unwrap_or_default().into_iter().map(Check::Heading));
    for item in on::items_of(fields.find("matches")) {
        checks.extend(read_matches(reader, item, "produces.matches"));
    }
    let schema = fields.read(reader, "schema", Reader::schema);
    checks.extend(schema.map(Check::Schema));
    checks.extend(words.filter(|_| !is_one));
    checks.extend(fields.read(reader, "covers", read_covers));
    checks.extend(fields.read(reader, "rejects", Reader::texts).map(Check::Rejects));
    let is_plan = fields.read(reader, "parts", Reader::boolean);
    checks.extend(is_plan.unwrap_or_default().then_some(Check::Parts));
    let when = fields.read(reader, "when", Reader::condition);
    let path = fields.require(reader, node, "path")?;
    Some(Product { path: reader.path(path, "produces.path")?, checks, when })
}

/// Reads a pattern, or patterns with the words that agents read in their place.
fn read_matches(reader: &mut Reader<'_>, node: &Node, key: &str) -> Vec<Check> {
    let Content::Map(pairs) = &node.content else {
        return reader.pattern(node, key).map(|it| Check::Matches(it, None)).into_iter().collect();
    };
    let read = |(pattern, words): &(Node, Node)| {
        let (pattern, words) = (reader.pattern(pattern, key), reader.text(words, key));
        Some(Check::Matches(pattern?, Some(words?)))
    };
    pairs.iter().filter_map(read).collect()
}

/// Reads a file, and the pattern that finds in it what must be covered.
fn read_covers(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Check> {
    if let Content::List(items) = &node.content
        && let [file, pattern] = items.as_slice()
    {
        let (file, pattern) = (reader.path(file, key), reader.pattern(pattern, key));
        return Some(Check::Covers { file: file?, pattern: pattern? });
    }
    reader.refuse_kind(node, key, "a list of a file and a pattern");
    None
}

/// Reads how many words there must be, or from how many to how many.
fn read_words(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Check> {
    let Content::List(items) = &node.content else {
        let min = u64::from(reader.count(node, key)?);
        return Some(Check::Words { min: Some(min), max: None });
    };
    let [min, max] = items.as_slice() else {
        reader.refuse_kind(node, key, "a number, or a list of two");
        return None;
    };
    let is_none = matches!(&min.content, Content::Integer(it) if it.as_u64() == Some(0));
    let min = if is_none { None } else { Some(u64::from(reader.count(min, key)?)) };
    let max = u64::from(reader.count(max, key)?);
    if min.is_some_and(|min| max < min) {
        reader.refuse_value(node, "`produces.words` wants more than it allows");
        return None;
    }
    Some(Check::Words { min, max: Some(max) })
}

fn read_criteria(reader: &mut Reader<'_>, node: &Node, key: &str) -> Option<Vec<Criterion>> {
    let criteria = reader.pairs(node, key)?.iter().filter_map(|(name, value)| {
        let text = reader.text(value, &format!("{key}.{}", name.key()))?;
        Some(Criterion { key: name.key().to_owned(), text })
    });
    Some(criteria.collect())
}

fn read_check(reader: &mut Reader<'_>, node: &Node, limit: Duration) -> Option<CommandCheck> {
    let (mut run, mut timeout) = (node, None);
    if matches!(node.content, Content::Map(_)) {
        let fields = reader.fields(node, "checks", &[&keys::CHECK])?;
        timeout = fields.read(reader, "timeout", Reader::duration);
        run = fields.require(reader, node, "run")?;
    }
    let words = reader.texts(run, "checks")?;
    if words.is_empty() {
        reader.refuse_value(run, "`checks` has an empty command");
        return None;
    }
    Some(CommandCheck { run: words, timeout: timeout.unwrap_or(limit) })
}
