//! Changes a session by hand: each key of the updates is a command, and all of them are one.

use engine::{Command, Consent, ContextChange, GatePolicy, Probe, Refusal};
use serde_json::{Map, Value};

use super::super::{
    answer::{Answer, Failure, check_size},
    change::{self, Changed, note},
    context::find_named,
    session::Found,
    view::{self, Extent},
    words::{self, Status},
    workflow_guidance::{choose, classic},
};
use crate::kit::{Ask, Caller, Done, Stopped};

/// The largest that an entry of the log may be, in bytes.
const ENTRY_BYTES_MAX: usize = 16 * 1024;
/// The largest that the text of an item may be, in bytes.
const ITEM_BYTES_MAX: usize = 2 * 1024;
/// The keys that mean something.
const KEYS: [&str; 6] = ["status", "log_entry", "node", "force", "add_item", "complete_item"];

/// What the updates ask for.
#[derive(Default)]
struct Asked {
    commands: Vec<Command>,
    /// What ends the session, and so comes last.
    last: Option<Command>,
    applied: Vec<String>,
    ignored: Vec<String>,
}

/// Does what the updates say.
pub(super) fn update(caller: &Caller, found: Found, updates: &str) -> Result<Ask, Failure> {
    let updates = read(updates).map_err(|it| it.about(found.id()))?;
    let asked = ask(&found, &updates).map_err(|it| it.about(found.id()))?;
    if asked.applied.is_empty() {
        return Err(nothing(&found, asked.ignored));
    }
    let Asked { mut commands, last, applied, ignored } = asked;
    commands.extend(last);
    Ok(change::change(caller, found, Command::All(commands), move |before, changed| {
        let changed = changed.map_err(|it| refused(before, &it))?;
        Ok(answer(changed, &applied, ignored))
    }))
}

fn answer(changed: Changed, applied: &[String], ignored: Vec<String>) -> Done<Answer> {
    let Changed { after, parent, children } = changed;
    let mut content = format!("✅ **State updated successfully.**\n\n- {}\n", applied.join("\n- "));
    if !ignored.is_empty() {
        content.push_str(&format!("\n**Ignored:** {}\n", ignored.join(", ")));
    }
    let id = parent.as_ref().unwrap_or(&after).id().to_owned();
    match &parent {
        Some(parent) => {
            let node = view::node(parent.session());
            content.push_str(&format!("\n↩️ **Back to the parent:** session `{id}`\n\n{node}"));
        }
        None => {
            content.push('\n');
            content.push_str(&view::state(after.session(), Extent::Answer));
        }
    }
    let mut done = after.say(content);
    done.warnings.extend(children);
    done.answer = Answer { ignored, session_id: Some(id), ..done.answer };
    done
}

fn read(updates: &str) -> Result<Map<String, Value>, Failure> {
    if updates.trim().is_empty() {
        let content = "❌ **Error:** No updates provided.";
        let hint = format!("pass `updates` as JSON with one of: {}", KEYS.join(", "));
        return Err(Failure::new("NO_UPDATES", content, hint));
    }
    serde_json::from_str(updates).map_err(|error| {
        Failure::new(
            "INVALID_JSON",
            format!("❌ **Error:** Invalid JSON in updates parameter.\n\n{error}"),
            "write an object, such as `{\"status\": \"RUNNING\"}`",
        )
    })
}

/// Makes commands of the updates.
fn ask(found: &Found, updates: &Map<String, Value>) -> Result<Asked, Failure> {
    let mut asked = Asked::default();
    let is_forced = updates.get("force") == Some(&Value::Bool(true));
    let is_classic = classic::is_classic(found);
    for (key, value) in updates {
        match (key.as_str(), value) {
            ("force", _) => {}
            ("log_entry", Value::String(text)) => asked.log(found, text)?,
            ("status", Value::String(word)) => asked.set_status(word)?,
            ("node", Value::String(node)) => asked.go_to(found, node, is_forced)?,
            ("phase", Value::String(node)) if is_classic => asked.go_to(found, node, is_forced)?,
            ("add_item", Value::String(text)) => asked.add_item(text)?,
            ("complete_item", value) => asked.complete_item(value)?,
            _ => asked.ignored.push(words::cut(key, 60)),
        }
    }
    Ok(asked)
}

impl Asked {
    fn log(&mut self, found: &Found, text: &str) -> Result<(), Failure> {
        check_size("`log_entry`", text, ENTRY_BYTES_MAX)?;
        if text.trim().is_empty() {
            let content = "❌ **Error:** `log_entry` is empty";
            return Err(Failure::new("EMPTY_ENTRY", content, "write what happened"));
        }
        self.commands.push(note(words::fill(text.trim(), &found.record.inputs)));
        self.applied.push("log_entry: added".to_owned());
        Ok(())
    }

    fn set_status(&mut self, word: &str) -> Result<(), Failure> {
        let Some(status) = Status::parse(word) else {
            let (word, known) = (words::cut(word, 60), Status::list());
            return Err(Failure::new(
                "INVALID_STATUS",
                format!("❌ **Error:** there is no status `{word}`. Use one of: {known}"),
                format!("use one of: {known}"),
            ));
        };
        let reason = || "set by hand".to_owned();
        match status {
            Status::Completed => {
                self.last = Some(Command::CompleteRun {
                    details: Map::new(),
                    context: ContextChange::default(),
                    early: true,
                });
            }
            Status::Failed => {
                let (step, errors) = (None, Vec::new());
                self.last = Some(Command::FailRun { reason: reason(), step, errors });
            }
            Status::Cancelled => self.last = Some(Command::CancelRun { reason: reason() }),
            Status::Ready
            | Status::Running
            | Status::NeedsPlanApproval
            | Status::Paused
            | Status::Error => {
                let set = (words::STATUS.to_owned(), Value::from(status.word()));
                self.commands.push(Command::SetVars { set: Map::from_iter([set]) });
            }
        }
        self.applied.push(format!("status: {}", status.word()));
        Ok(())
    }

    /// Goes to a node: one that may follow, or any by force.
    fn go_to(&mut self, found: &Found, wanted: &str, is_forced: bool) -> Result<(), Failure> {
        let workflow = &found.seen.view.workflow;
        let all: Vec<&str> = workflow.work_steps().map(|it| it.name.as_str()).collect();
        let Some(node) = find_named(&all, wanted.trim()) else {
            let (wanted, all) = (words::cut(wanted, 60), all.join(", "));
            return Err(Failure::new(
                "NODE_NOT_FOUND",
                format!("❌ **Error:** there is no node `{wanted}`. The nodes are: {all}"),
                format!("name one of: {all}"),
            ));
        };
        let from = &found.record.current_node;
        let how = if is_forced { "by force" } else { "by hand" };
        self.commands.push(note(format!("🔄 Transitioned from {from} to {node} ({how})")));
        if is_forced {
            let running = (words::STATUS.to_owned(), Value::from(Status::Running.word()));
            self.commands.push(Command::SetVars { set: Map::from_iter([running]) });
            let (step, passing) = (node.to_owned(), GatePolicy::Anything);
            self.commands.push(Command::GoTo { step, passing });
        } else {
            self.commands.push(leave(found, node)?);
        }
        self.applied.push(format!("node: {node} ({how})"));
        Ok(())
    }

    fn add_item(&mut self, text: &str) -> Result<(), Failure> {
        check_size("`add_item`", text, ITEM_BYTES_MAX)?;
        if text.trim().is_empty() {
            let content = "❌ **Error:** `add_item` is empty";
            return Err(Failure::new("EMPTY_ENTRY", content, "write what is to be done"));
        }
        self.commands.push(Command::AddItem { text: text.trim().to_owned() });
        self.applied.push("add_item: added".to_owned());
        Ok(())
    }

    fn complete_item(&mut self, value: &Value) -> Result<(), Failure> {
        let id = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
        let Some(id) = id else {
            let content = format!("❌ **Error:** `{value}` is not the id of an item");
            return Err(Failure::new("ITEM_NOT_FOUND", content, "give the number of an item"));
        };
        self.commands.push(Command::CloseItem { id });
        self.applied.push(format!("complete_item: {id}"));
        Ok(())
    }
}

/// Leaves a node by hand: with no evidence but what was kept, which the policy judges.
fn leave(found: &Found, node: &str) -> Result<Command, Failure> {
    let from = found.record.current_node.as_str();
    let kept = (words::DONE, found.kept_evidence());
    let command = change::report(from, kept, (Some(node), Consent::Needed));
    let why = match found.probe(&command) {
        Probe::Open(after) if after.standing.open_gate().is_none() => return Ok(command),
        Probe::Open(_) | Probe::Closed(_) if found.needs_approval() => {
            format!("node **{from}** is only left with the user's approval")
        }
        Probe::Closed(Refusal::NextNotAllowed { allowed, .. }) => {
            let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
            format!("node **{from}** leads to: {allowed}")
        }
        // What else is wrong the engine says when it is asked to do it.
        Probe::Open(_) | Probe::Closed(_) | Probe::Needs(_) => return Ok(command),
    };
    Err(Failure::new(
        "ILLEGAL_TRANSITION",
        format!("❌ **Error:** `{node}` cannot follow now: {why}\n\nNothing was changed."),
        "move on with `workflow_guidance` and `choose`",
    ))
}

/// Says that the updates led to nothing.
fn nothing(found: &Found, ignored: Vec<String>) -> Failure {
    let list = if ignored.is_empty() { "none".to_owned() } else { ignored.join(", ") };
    Failure::new(
        "NOTHING_APPLIED",
        format!(
            "❌ **Error:** nothing applied: no key of the updates means anything here.\n\n\
             **Ignored:** {list}\n**Known keys:** {}",
            KEYS.join(", ")
        ),
        format!("use one of: {}", KEYS.join(", ")),
    )
    .about(found.id())
    .ignoring(ignored)
}

fn refused(found: &Found, stopped: &Stopped) -> Failure {
    let failure = match stopped {
        Stopped::Refused(refusal @ Refusal::ItemUnknown { item, .. }) => {
            let items = || found.record.items.iter();
            if items().any(|it| it.id.to_string() == *item && it.is_done()) {
                let content = format!("❌ **Error:** item {item} is done already");
                let hint = "there is nothing left to do about it";
                return Failure::new("ITEM_DONE", content, hint).about(found.id());
            }
            let ids: Vec<String> = items().map(|it| it.id.to_string()).collect();
            let ids = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            Failure::new(
                "ITEM_NOT_FOUND",
                format!("❌ **Error:** {refusal}. The items are: {ids}"),
                format!("name one of: {ids}"),
            )
            .because(refusal)
        }
        Stopped::Refused(Refusal::RunEnded { .. }) => return choose::closed(found),
        Stopped::Refused(_) | Stopped::Failed(_) => Failure::of(stopped),
    };
    failure.about(found.id())
}
