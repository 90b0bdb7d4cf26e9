//! A step's file: its sections, and its front matter.

use std::{collections::BTreeMap, ops::Range, slice::from_ref, time::Duration};

use super::{
    each, keys, markdown,
    node::{Content, Node},
    on,
    reader::Reader,
    rules,
};
use crate::{
    Check, CommandCheck, Criterion, Diagnostic, Evidence, Label, Moments, Need, Presence, Product,
    Step, StepName, Timeout, Var, Work,
    text::{outside_fences, parse_heading},
};

/// How long a command of `checks` may take if it does not say so itself.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10 * 60);

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
    let mut step = plain(name, document.file.clone(), text.clone());
    let front = document.front.as_ref();
    if let Some(fields) = front.and_then(|it| reader.fields(it, "", &[&keys::STEP])) {
        let reader = &mut reader;
        let words = [("none", Work::None), ("agent", Work::Agent)];
        let title = fields.find("title").and_then(|it| reader.text(it, "title"));
        step.title = title.unwrap_or(step.title);
        step.agent = fields.find("agent").and_then(|it| reader.template(it, "agent"));
        let work = fields.find("work").and_then(|it| reader.choice(it, "work", &words));
        step.work = work.unwrap_or_default();
        step.needs = fields.find("needs").map(|it| read_needs(reader, it)).unwrap_or_default();
        step.produces =
            fields.find("produces").map(|it| read_products(reader, it)).unwrap_or_default();
        step.criteria =
            fields.find("criteria").map(|it| read_criteria(reader, it)).unwrap_or_default();
        let evidence =
            fields.find("evidence").and_then(|it| reader.choice(it, "evidence", &EVIDENCE));
        step.evidence = evidence.unwrap_or_default();
        let after = fields.find("timeout").and_then(|it| reader.duration(it, "timeout"));
        step.timeout = after.map(|after| Timeout { after });
        let checks = fields.find("checks");
        step.checks = checks.map(|it| read_checks(reader, it, after)).unwrap_or_default();
        step.gate = fields.find("gate").and_then(|it| rules::read_gate(reader, it, name));
        step.rules = fields.find("rules").and_then(|it| rules::read_rules(reader, it, vars));
        step.review = fields.find("review").and_then(|it| rules::read_review(reader, it, vars));
        step.attempts = fields.find("attempts").and_then(|it| rules::read_attempts(reader, it));
        step.next =
            fields.find("next").map(|it| rules::read_next(reader, it, vars)).unwrap_or_default();
        step.on = fields.find("on").map(|it| on::read_step(reader, it, vars)).unwrap_or_default();
        step.each = fields.find("each").and_then(|it| each::read(reader, it));
        step.skip_when = fields.find("skip_when").and_then(|it| reader.condition(it, "skip_when"));
        step.lease = fields.find("lease").and_then(|it| reader.duration(it, "lease"));
    }
    let sections = markdown::find_sections(text);
    let guidance = section(&mut reader, &step, "Orchestrator Guidance", sections.guidance);
    let instructions = section(&mut reader, &step, "Client Instructions", sections.instructions);
    step.guidance = guidance?;
    step.instructions = instructions?;
    Some(step)
}

/// A step without front matter.
fn plain(name: &StepName, file: String, text: String) -> Step {
    Step {
        name: name.clone(),
        title: name.to_string(),
        goal: markdown::find_goal(&text).unwrap_or_default(),
        guidance: String::new(),
        instructions: String::new(),
        text,
        file,
        agent: None,
        work: Work::default(),
        needs: Vec::new(),
        produces: Vec::new(),
        criteria: Vec::new(),
        evidence: Evidence::default(),
        checks: Vec::new(),
        gate: None,
        rules: None,
        review: None,
        each: None,
        attempts: None,
        next: Vec::new(),
        on: Moments::default(),
        workflows: Vec::new(),
        skip_when: None,
        lease: None,
        timeout: None,
    }
}

/// Takes a mandatory section out of a step's text. A step that nobody works on may lack it.
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

fn read_needs(reader: &mut Reader<'_>, node: &Node) -> Vec<Need> {
    let items = reader.list(node, "needs").unwrap_or_default();
    items.iter().filter_map(|it| read_need(reader, it)).collect()
}

fn read_need(reader: &mut Reader<'_>, node: &Node) -> Option<Need> {
    if !matches!(node.content, Content::Map(_)) {
        let path = reader.path(node, "needs")?;
        return Some(Need { path, when: None, presence: Presence::Required });
    }
    let fields = reader.fields(node, "needs", &[&keys::NEED])?;
    let when = fields.find("when").map(|it| reader.condition(it, "needs.when"));
    let path = required(reader, node, "needs", fields.find("path"), "path")?;
    let presence = fields.find("optional").and_then(|it| read_presence(reader, it));
    let path = reader.path(path, "needs.path")?;
    Some(Need { path, when: when.flatten(), presence: presence.unwrap_or_default() })
}

/// Reads `true`, `false` or `found`.
fn read_presence(reader: &mut Reader<'_>, node: &Node) -> Option<Presence> {
    if let Content::Boolean(is_optional) = node.content {
        return Some(if is_optional { Presence::Optional } else { Presence::Required });
    }
    reader.choice(node, "needs.optional", &[("found", Presence::Found)])
}

/// Says so if a field is not written.
pub(super) fn required<'n>(
    reader: &mut Reader<'_>,
    node: &Node,
    key: &str,
    field: Option<&'n Node>,
    name: &str,
) -> Option<&'n Node> {
    if field.is_none() {
        reader.refuse("key_missing", node, format!("`{key}` lacks `{name}`"), None);
    }
    field
}

fn read_products(reader: &mut Reader<'_>, node: &Node) -> Vec<Product> {
    let items = reader.list(node, "produces").unwrap_or_default();
    items.iter().filter_map(|it| read_product(reader, it)).collect()
}

fn read_product(reader: &mut Reader<'_>, node: &Node) -> Option<Product> {
    if !matches!(node.content, Content::Map(_)) {
        let path = reader.path(node, "produces")?;
        return Some(Product { path, checks: Vec::new(), when: None });
    }
    let fields = reader.fields(node, "produces", &[&keys::PRODUCT])?;
    let mut checks = Vec::new();
    let is_not_empty =
        fields.find("not_empty").and_then(|it| reader.boolean(it, "produces.not_empty"));
    let words = fields.find("words").and_then(|it| read_words(reader, it));
    let is_one = matches!(words, Some(Check::Words { min: Some(1), max: None }));
    checks.extend((is_one || is_not_empty == Some(true)).then_some(Check::NotEmpty));
    let headings = fields.find("headings").and_then(|it| reader.texts(it, "produces.headings"));
    checks.extend(headings.unwrap_or_default().into_iter().map(Check::Heading));
    if let Some(it) = fields.find("matches") {
        let items =
            if let Content::List(items) = &it.content { items.as_slice() } else { from_ref(it) };
        let patterns = items.iter().map(|it| reader.pattern(it, "produces.matches"));
        checks.extend(patterns.flatten().map(Check::Matches));
    }
    let schema = fields.find("schema").and_then(|it| reader.schema(it, "produces.schema"));
    checks.extend(schema.map(Check::Schema));
    checks.extend(words.filter(|_| !is_one));
    checks.extend(fields.find("covers").and_then(|it| read_covers(reader, it)));
    let rejects = fields.find("rejects").and_then(|it| reader.texts(it, "produces.rejects"));
    checks.extend(rejects.map(Check::Rejects));
    let is_plan = fields.find("parts").and_then(|it| reader.boolean(it, "produces.parts"));
    checks.extend(is_plan.unwrap_or_default().then_some(Check::Parts));
    let when = fields.find("when").map(|it| reader.condition(it, "produces.when"));
    let path = required(reader, node, "produces", fields.find("path"), "path")?;
    Some(Product { path: reader.path(path, "produces.path")?, checks, when: when.flatten() })
}

/// Reads a file, and the pattern that finds in it what must be covered.
fn read_covers(reader: &mut Reader<'_>, node: &Node) -> Option<Check> {
    let key = "produces.covers";
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
fn read_words(reader: &mut Reader<'_>, node: &Node) -> Option<Check> {
    let key = "produces.words";
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

fn read_criteria(reader: &mut Reader<'_>, node: &Node) -> Vec<Criterion> {
    let pairs = reader.pairs(node, "criteria").unwrap_or_default();
    let criteria = pairs.iter().filter_map(|(key, value)| {
        let text = reader.text(value, &format!("criteria.{}", key.key()))?;
        Some(Criterion { key: key.key().to_owned(), text })
    });
    criteria.collect()
}

fn read_checks(
    reader: &mut Reader<'_>,
    node: &Node,
    timeout: Option<Duration>,
) -> Vec<CommandCheck> {
    let items = reader.list(node, "checks").unwrap_or_default();
    let limit = timeout.filter(|_| reader.language != 1).unwrap_or(CHECK_TIMEOUT);
    items.iter().filter_map(|it| read_check(reader, it, limit)).collect()
}

fn read_check(reader: &mut Reader<'_>, node: &Node, limit: Duration) -> Option<CommandCheck> {
    let (mut run, mut timeout) = (node, None);
    if matches!(node.content, Content::Map(_)) {
        let fields = reader.fields(node, "checks", &[&keys::CHECK])?;
        timeout = fields.find("timeout").and_then(|it| reader.duration(it, "checks.timeout"));
        run = required(reader, node, "checks", fields.find("run"), "run")?;
    }
    let words = reader.texts(run, "checks")?;
    if words.is_empty() {
        reader.refuse_value(run, "`checks` has an empty command");
        return None;
    }
    Some(CommandCheck { run: words, timeout: timeout.unwrap_or(limit) })
}
