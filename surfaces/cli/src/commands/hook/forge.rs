//! What a forge pipeline lets an agent do: nothing is written outside of the workspace while the
//! situation is looked at, nothing is committed while tasks run side by side, the branch stays, and
//! the agent does not stop half-way.

use std::path::{Component, Path, PathBuf};

use definition::find_verdict;
use dialects::forge::intake::branch::TRUNKS;
use serde_json::Value;
use world::beneath::Root;

use super::{
    Event, Ruling,
    pipeline::{FILE_BYTES_MAX, Pipeline},
    shell::Git,
};

/// How short an agent's answer is that cannot have been meant.
const ANSWER_CHARS_MIN: usize = 50;

/// What a phase leaves behind, and the words that its verdict can be, as the workflow has it: a hook
/// has no time to read that.
const OUTCOMES: [(&str, &str, &[&str]); 10] = [
    ("phase-1", "analysis.md", &[]),
    ("phase-2", "investigation.md", &[]),
    ("phase-3", "design.md", &[]),
    ("phase-3b", "review-design.md", &["APPROVE", "APPROVE_WITH_NOTES", "REVISE"]),
    ("phase-4", "tasks.md", &[]),
    ("phase-4b", "review-tasks.md", &["APPROVE", "APPROVE_WITH_NOTES", "REVISE"]),
    ("phase-6", "", &["PASS", "PASS_WITH_NOTES", "FAIL"]),
    ("phase-7", "comprehensive-review.md", &[]),
    ("final-verification", "final-verification.md", &[]),
    ("final-summary", "summary.md", &[]),
];

/// Returns whether a pipeline could have something to say. Most calls do not concern it, and then no
/// file is read.
pub(super) fn is_concerned(event: Event, call: &Value) -> bool {
    if !call.is_object() {
        return event == Event::SessionStart;
    }
    match event {
        Event::PreToolUse => match tool(call) {
            "Bash" => Git::calls(command(call)).iter().any(|it| is_guarded(&it.verb)),
            other => is_edit(other),
        },
        Event::PostToolUse => matches!(tool(call), "Agent" | "Task"),
        // An agent that was sent back once may stop; otherwise it would loop forever.
        Event::Stop => call.get("stop_hook_active") != Some(&Value::Bool(true)),
        Event::SessionStart => true,
    }
}

/// Returns what the pipeline says to a call. `root` is the project's folder.
pub(super) fn rule(event: Event, call: &Value, pipeline: &Pipeline, root: &Path) -> Ruling {
    match event {
        Event::PreToolUse if is_edit(tool(call)) => edit(call, pipeline, root),
        Event::PreToolUse => shell(command(call), pipeline),
        Event::PostToolUse => answer(call, pipeline, root),
        Event::Stop => stop(pipeline),
        Event::SessionStart => Ruling::Tell(format!(
            "Forge pipeline {} is going on here. To continue it: /forge, with the folder {}.",
            at(pipeline),
            pipeline.workspace.display()
        )),
    }
}

fn edit(call: &Value, pipeline: &Pipeline, root: &Path) -> Ruling {
    let is_looking = ["phase-1", "phase-2"].contains(&pipeline.phase.as_str());
    let Some(path) = path(call).filter(|_| is_looking && pipeline.is_in_progress()) else {
        return Ruling::Pass;
    };
    let from = call.get("cwd").and_then(Value::as_str).map_or(root, Path::new);
    if settled(&from.join(path)).starts_with(settled(&pipeline.workspace)) {
        return Ruling::Pass;
    }
    Ruling::Block(format!(
        "blocked: `{path}` lies outside of the workspace of forge pipeline {}\n\
         hint: in this phase write only below `{}`; code is changed in phase-5",
        at(pipeline),
        pipeline.workspace.display()
    ))
}

fn shell(command: &str, pipeline: &Pipeline) -> Ruling {
    let calls = Git::calls(command);
    for call in &calls {
        let branch = call.branch().filter(|it| TRUNKS.contains(it));
        // A pipeline may have been told to work on that branch.
        if let Some(branch) = branch.filter(|it| pipeline.branch.as_deref() != Some(it)) {
            return Ruling::Block(format!(
                "blocked: forge pipeline {} is going on, and `{branch}` is not its branch\n\
                 hint: stay on `{}`; finish or abandon the pipeline before you leave it",
                at(pipeline),
                pipeline.branch.as_deref().unwrap_or("the current branch")
            ));
        }
    }
    let is_building = pipeline.phase == "phase-5" && pipeline.is_in_progress();
    if !is_building || pipeline.under_way.is_empty() || !calls.iter().any(|it| it.verb == "commit")
    {
        return Ruling::Pass;
    }
    Ruling::Block(format!(
        "blocked: tasks of forge pipeline {} run side by side: {}\n\
         hint: leave the changes as they are; the pipeline commits them when all of them are done",
        at(pipeline),
        pipeline.under_way.join(", ")
    ))
}

fn answer(call: &Value, pipeline: &Pipeline, root: &Path) -> Ruling {
    if !pipeline.is_in_progress() {
        return Ruling::Pass;
    }
    let said = said(call.get("tool_response").unwrap_or(&Value::Null));
    let known = OUTCOMES.iter().find(|(phase, ..)| *phase == pipeline.phase);
    let (file, verdicts) = known.map_or(("", &[][..]), |(_, file, verdicts)| (*file, *verdicts));
    let written = written(pipeline, root, file);
    let has_verdict = |it: &String| find_verdict(it, verdicts).is_some();
    let problem = if said.chars().count() < ANSWER_CHARS_MIN && written.is_empty() {
        "the agent answered next to nothing"
    } else if !verdicts.is_empty() && !has_verdict(&said) && !written.iter().any(has_verdict) {
        "the agent gave no verdict"
    } else {
        return Ruling::Pass;
    };
    Ruling::Tell(format!(
        "forge pipeline {}: {problem}; see that its file is complete before you report it as done",
        at(pipeline)
    ))
}

fn stop(pipeline: &Pipeline) -> Ruling {
    // After a failure it is for the person to say whether the work goes on.
    if ["awaiting_human", "failed"].contains(&pipeline.status.as_str()) {
        return Ruling::Pass;
    }
    Ruling::Block(format!(
        "forge pipeline {} is not finished\n\
         hint: call `pipeline_next_action` with workspace `{}` to go on; if the person wants to \
         end it, call `abandon`",
        at(pipeline),
        pipeline.workspace.display()
    ))
}

fn at(pipeline: &Pipeline) -> String {
    format!("`{}` (`{}`, {})", pipeline.name, pipeline.phase, pipeline.status)
}

fn tool(call: &Value) -> &str {
    call.get("tool_name").and_then(Value::as_str).unwrap_or_default()
}

fn command(call: &Value) -> &str {
    call.pointer("/tool_input/command").and_then(Value::as_str).unwrap_or_default()
}

fn path(call: &Value) -> Option<&str> {
    let input = call.get("tool_input")?;
    input.get("file_path").or_else(|| input.get("notebook_path"))?.as_str()
}

fn is_edit(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit" | "Write")
}

fn is_guarded(verb: &str) -> bool {
    matches!(verb, "checkout" | "commit" | "switch")
}

/// Returns every text in what a tool answered.
fn said(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(said).collect(),
        Value::Object(fields) => {
            let told = ["text", "content", "result"].iter().filter_map(|it| fields.get(*it));
            told.map(said).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Returns what agents have written for the phase: its file, or the reviews of tasks.
fn written(pipeline: &Pipeline, root: &Path, file: &str) -> Vec<String> {
    let Ok(folder) = Root::of(root, &pipeline.workspace) else { return Vec::new() };
    let read = |name: &str| folder.read_text(Path::new(name), FILE_BYTES_MAX).ok();
    if !file.is_empty() {
        return read(file).into_iter().collect();
    }
    let names = folder.names().unwrap_or_default().into_iter();
    let reviews = names.filter(|it| {
        let task = it.strip_prefix("review-").and_then(|it| it.strip_suffix(".md"));
        task.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
    });
    reviews.filter_map(|it| read(&it)).collect()
}

/// Returns a path without links and `..`, also for a file that does not exist yet.
fn settled(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|it| {
        let rest = path.strip_prefix(it).ok()?;
        Some(it.canonicalize().ok()?.join(rest))
    });
    let mut settled = PathBuf::new();
    for part in real.as_deref().unwrap_or(path).components() {
        match part {
            Component::ParentDir => drop(settled.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => settled.push(part),
        }
    }
    settled
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use definition::{MemoryFiles, Review, WorkflowName, parse};

    use super::OUTCOMES;

    #[test]
    fn the_outcomes_are_those_of_the_workflow() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
        let folders = ["forge", "forge/steps"].map(|it| fs::read_dir(root.join(it)).unwrap());
        let paths = folders.into_iter().flatten().map(|it| it.unwrap().path());
        let files = paths.filter(|it| it.is_file()).map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        });
        let files = MemoryFiles(files.collect::<BTreeMap<_, _>>());
        let workflow = parse(&WorkflowName::parse("forge").unwrap(), &files).unwrap();
        let stated = workflow.steps.iter().map(|step| {
            let file = step.produces.first().map_or("", |it| it.path.source());
            // Each part has a file of its own.
            let file = if step.each.is_some() { "" } else { file };
            (step.name.as_str(), file, step.review.as_ref().map(Review::words).unwrap_or_default())
        });
        let stated: Vec<_> = stated.filter(|it| !it.1.is_empty() || !it.2.is_empty()).collect();
        assert_eq!(OUTCOMES.map(|it| (it.0, it.1, it.2.to_vec())).to_vec(), stated);
    }
}
