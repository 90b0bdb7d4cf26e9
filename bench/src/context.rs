//! How much of an agent's context everything takes: the list of tools, each answer of a typical run,
//! and a brief.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{Measured, peer::Peer, rig::Rig, table::Section};

const TOOLS_TOKENS_MAX: usize = 2_000;
const BRIEF_TOKENS_MAX: usize = 2_500;
/// The tokenizer, from the package registry.
const TOKENIZER: &str = "gpt-tokenizer@4.0.0";

/// What an agent writes in the first two steps.
const ISSUE: &str = "Issue: 17 Add the export\n\n## Description\n\nMembers want their orders as a \
                     spreadsheet.\n\n## Comments\n\nann: one file for each year, please.\n";
const REQUIREMENTS: &str = "## Requirements\n\n- AC-1: a member downloads a file with one line for \
                            each order of a year\n- AC-2: ten thousand orders take less than a \
                            minute\n\n## Not included\n\nOther formats.\n\n## Questions\n\nWhich \
                            columns? The same as on the page.\n";

/// Something that a model reads.
struct Read {
    name: String,
    text: String,
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let folder = rig.folder()?;
    let mut server = Peer::start(&mut rig.server(folder.path()))?;
    let mut read = vec![tools(&mut server)?];
    play(&mut server, folder.path(), &mut read)?;
    let brief = long_brief(&mut server)?;
    read.push(brief);
    let (counts, tokenizer) = count(rig, &read);
    let note = format!(
        "What a model reads: of `tools/list` name, description and input schema; of an answer its \
         structured content, on one line. {tokenizer}"
    );
    let mut section =
        Section::new("Room in an agent's context", note, &["what", "bytes", "tokens"]);
    for (read, tokens) in read.iter().zip(&counts) {
        section.row(&[read.name.clone(), read.text.len().to_string(), tokens.to_string()]);
    }
    for (name, most) in
        [("tools/list", TOOLS_TOKENS_MAX), ("brief of a long run", BRIEF_TOKENS_MAX)]
    {
        let found = read.iter().zip(&counts).find(|(it, _)| it.name == name);
        let tokens = found.map_or(0, |(_, tokens)| *tokens);
        let promise = format!("{name} < {most} tokens");
        section.target(promise, tokens.to_string(), 0 < tokens && tokens < most);
    }
    Ok(section)
}

fn tools(server: &mut Peer) -> Measured<Read> {
    let (result, _) = server.request("tools/list", json!({}))?;
    let tools = result["tools"].as_array().ok_or("there are no tools")?;
    let seen = |it: &Value| {
        json!({
            "name": it["name"],
            "description": it["description"],
            "input_schema": it["inputSchema"],
        })
    };
    let text = Value::Array(tools.iter().map(seen).collect()).to_string();
    Ok(Read { name: "tools/list".to_owned(), text })
}

/// Works on a typical run in `folder`, and keeps every answer.
fn play(server: &mut Peer, folder: &Path, read: &mut Vec<Read>) -> Measured<()> {
    let mut ask = |name: &str, tool: &str, arguments: Value| -> Measured<Value> {
        let (result, _) = server.call(tool, &arguments)?;
        let value = result["structuredContent"].clone();
        read.push(Read { name: name.to_owned(), text: value.to_string() });
        Ok(value)
    };
    ask("`list_workflows`", "list_workflows", json!({}))?;
    let context =
        json!({"issue_id": "17", "issue_title": "Add the export", "test_command": "make"});
    let start = json!({"workflow_name": "SPRINT_TASK", "context": context});
    let run = ask("`start_workflow`", "start_workflow", start)?["instance_id"].clone();
    let place = folder.join("work").join(run.as_str().ok_or("there is no run")?);
    fs::create_dir_all(&place)?;
    fs::write(place.join("issue.md"), ISSUE)?;
    fs::write(place.join("requirements.md"), REQUIREMENTS)?;
    let report = |step: &str, status: &str| {
        let message = format!("{step}: as agreed with the team, see the notes of the issue");
        json!({"instance_id": run, "report": {
            "step_id": step, "status": status, "message": message}})
    };
    ask("`advance_workflow`, to step 2", "advance_workflow", report("Select Issue", "success"))?;
    ask("`advance_workflow`, refused", "advance_workflow", report("Report", "success"))?;
    ask(
        "`advance_workflow`, in progress",
        "advance_workflow",
        report("Clarify Requirements", "in_progress"),
    )?;
    let error = json!({"instance_id": run, "type": "error", "text": "the branch exists already"});
    ask("`record_entry`", "record_entry", error)?;
    let claim = json!({"instance_id": run, "holder": "agent-1"});
    ask("`claim_step`", "claim_step", claim)?;
    let status = json!({"instance_id": run});
    ask("`get_workflow_status`", "get_workflow_status", status.clone())?;
    let history = json!({"instance_id": run, "include_history": true});
    ask("`get_workflow_status`, with history", "get_workflow_status", history)?;
    ask("`list_runs`, one run", "list_runs", json!({}))?;
    ask("`search_history`", "search_history", json!({"query": "branch exists"}))?;
    ask("`resume_workflow`, with its brief", "resume_workflow", status)?;
    let step = report("Clarify Requirements", "success");
    ask("`advance_workflow`, asks a person", "advance_workflow", step)?;
    Ok(())
}

/// Returns the brief of a run that has far more to tell than a brief has room for.
fn long_brief(server: &mut Peer) -> Measured<Read> {
    let context = json!({"task_description": "Sort the imports"});
    let start = json!({"workflow_name": "Simple Linear Workflow", "context": context});
    let (begun, _) = server.done("start_workflow", &start)?;
    let run = &begun["instance_id"];
    let steps = ["start", "analyze", "plan", "execute", "review"];
    for (step, next) in steps.iter().zip(steps.iter().skip(1)) {
        for number in 0..40 {
            let text = format!(
                "{number}: {step} met something that must be remembered: module_{number} depends on \
                 the order of imports, and `make check` fails without the flag."
            );
            let kind = if number % 3 == 0 { "error" } else { "note" };
            let entry = json!({"instance_id": run, "type": kind, "text": text});
            server.done("record_entry", &entry)?;
        }
        let long = "The decision was taken after a long discussion with everyone. ".repeat(30);
        let report = json!({"step_id": step, "status": "success", "message": long});
        let context = json!({format!("{step} notes"): long});
        let advance = json!({"instance_id": run, "report": report, "context_updates": context,
            "next_step_name": next});
        server.done("advance_workflow", &advance)?;
    }
    let (resumed, _) = server.done("resume_workflow", &json!({"instance_id": run}))?;
    let text = resumed["brief"].as_str().ok_or("there is no brief")?.to_owned();
    Ok(Read { name: "brief of a long run".to_owned(), text })
}

/// Counts tokens, and says how.
fn count(rig: &Rig, read: &[Read]) -> (Vec<usize>, &'static str) {
    match tokenize(rig, read) {
        Ok(counts) => (counts, "Tokens are those of o200k_base."),
        Err(error) => {
            eprintln!("tokens are estimated, as there is no tokenizer: {error}");
            let counts = read.iter().map(|it| it.text.len() / 4).collect();
            (counts, "Tokens are ESTIMATED as a quarter of the bytes: there was no tokenizer.")
        }
    }
}

fn tokenize(rig: &Rig, read: &[Read]) -> Measured<Vec<usize>> {
    let place = rig.repository.join("target/tokenizer");
    install(&place)?;
    let script = "import { encode } from 'gpt-tokenizer/encoding/o200k_base'; \
                  let text = ''; for await (const part of process.stdin) text += part; \
                  console.log(JSON.stringify(JSON.parse(text).map(it => encode(it).length)));";
    let mut node = Command::new("node")
        .args(["--input-type=module", "--eval", script])
        .current_dir(&place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let texts: Vec<&str> = read.iter().map(|it| it.text.as_str()).collect();
    let mut input = node.stdin.take().ok_or("no input")?;
    input.write_all(json!(texts).to_string().as_bytes())?;
    drop(input);
    let output = node.wait_with_output()?;
    let counts: Vec<usize> = serde_json::from_slice(&output.stdout)?;
    if counts.len() != read.len() {
        return Err("the tokenizer did not count everything".into());
    }
    Ok(counts)
}

fn install(place: &Path) -> Measured<()> {
    if place.join("node_modules/gpt-tokenizer").exists() {
        return Ok(());
    }
    fs::create_dir_all(place)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix", "."]).arg(TOKENIZER);
    let output = npm.current_dir(place).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(())
}
