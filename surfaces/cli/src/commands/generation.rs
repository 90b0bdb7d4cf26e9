//! `milepost generation`: the commands of `/generation-state` at a terminal.
//!
//! Each calls the tool that an agent would call, and prints what it answers. Nothing is decided
//! here; only where an answer names a call, the command is named instead.

mod words;

use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use mcp::{Call, Person, Tools};
use serde_json::{Map, Value, json};

use crate::{
    complete,
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{DIM, Output, Reply, text},
};

/// The toolset whose tools are called.
const TOOLSET: &str = "generation";

/// What to do with scenes.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show how far a scene is; without one, every scene that runs, waits or has failed
    #[command(
        after_help = "Examples:\n  milepost generation status\n  milepost generation status \
                            0204"
    )]
    Status {
        /// The scene, as four digits
        #[arg(value_name = "SCENE", add = ArgValueCompleter::new(complete::scenes))]
        scene: Option<String>,
    },
    /// Show how a failed or cancelled scene goes on, ask, and open it again
    #[command(
        after_help = "Where there is no terminal to ask on, only the plan is shown, unless `--yes` \
                      is given.\n\nExamples:\n  milepost generation resume 0204\n  milepost \
                      generation resume 0204 --yes\n  milepost generation resume 0204 --force   \
                      although its state is damaged, or it waits for approval"
    )]
    Resume(ResumeArgs),
    /// Stop a scene; it can be resumed later
    #[command(after_help = "Example:\n  milepost generation cancel 0204 --reason 'Blueprint has \
                            error'")]
    Cancel {
        /// The scene, as four digits
        #[arg(value_name = "SCENE", add = ArgValueCompleter::new(complete::scenes))]
        scene: String,
        /// Why it is stopped
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List scenes, the most recently started first
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  milepost generation list --failed\n  milepost generation list \
                      --limit 50 --offset 50\n  milepost generation list --json | jq -r \
                      '.generations[].scene_id'"
    )]
    List(ListArgs),
}

/// What `generation resume` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The scene, as four digits
    #[arg(value_name = "SCENE", add = ArgValueCompleter::new(complete::scenes))]
    scene: String,
    /// Resume despite warnings, or although it waits for approval
    #[arg(long)]
    force: bool,
    /// Do not ask: needed where there is no terminal to ask on
    #[arg(short, long)]
    yes: bool,
}

/// What `generation list` takes.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("filter")))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// How many to show at most
    #[arg(short, long, value_name = "COUNT")]
    limit: Option<u32>,
    /// How many to leave out before
    #[arg(long, value_name = "COUNT")]
    offset: Option<u32>,
}

/// Which scenes are listed: one of these, or all.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags, of which one can be given")]
pub(crate) struct FilterArgs {
    /// Only those that run, wait or have failed
    #[arg(long, group = "filter")]
    active: bool,
    /// Only those that are completed
    #[arg(long, group = "filter")]
    completed: bool,
    /// Only those that have failed, which can be resumed
    #[arg(long, group = "filter")]
    failed: bool,
}

/// Runs the command.
pub(crate) async fn perform(
    command: Command,
    config: Config,
    output: Output,
) -> Result<Reply, Failure> {
    // Who only looks makes no database.
    let access = match &command {
        Command::Status { .. } | Command::List(_) => Access::Existing,
        Command::Resume(args) if !args.yes && !output.is_interactive() => Access::Existing,
        Command::Resume(_) | Command::Cancel { .. } => Access::Create,
    };
    let joined = Joined::open(config, access).await?;
    match command {
        Command::Status { scene } => status(&joined, scene).await,
        Command::Resume(args) => resume(&joined, &args, output).await,
        Command::Cancel { scene, reason } => cancel(&joined, &scene, reason).await,
        Command::List(args) => list(&joined, &args).await,
    }
}

async fn status(joined: &Joined, scene: Option<String>) -> Result<Reply, Failure> {
    let answer = match scene {
        Some(scene) => {
            let arguments = json!({"scene_id": scene, "detailed": true});
            call(joined, "get_generation_status", arguments).await?
        }
        None => {
            let arguments = json!({"filter": "active", "sort_by": "started_at"});
            call(joined, "list_generations", arguments).await?
        }
    };
    Ok(reply(answer))
}

async fn resume(joined: &Joined, args: &ResumeArgs, output: Output) -> Result<Reply, Failure> {
    let arguments =
        |confirm: bool| json!({"scene_id": args.scene, "force": args.force, "confirm": confirm});
    if args.yes {
        return Ok(reply(call(joined, "resume_generation", arguments(true)).await?));
    }
    let plan = call(joined, "resume_generation", arguments(false)).await?;
    let is_plan = plan.get("ok") == Some(&Value::Bool(true));
    if !is_plan {
        return Ok(reply(plan));
    }
    if !output.is_interactive() {
        let note = format!("{DIM}Nothing was changed; `--yes` carries the plan out.{DIM:#}");
        return Ok(reply(plan).with_note(note));
    }
    output.say(&reply(plan).text);
    if !output.ask(&format!("Resume scene {}?", args.scene))? {
        return Err(Failure::refused("not_confirmed", "nothing was resumed"));
    }
    let done = reply(call(joined, "resume_generation", arguments(true)).await?);
    // The plan was shown already.
    let last = done.text.lines().rfind(|it| it.starts_with('▶')).map(ToOwned::to_owned);
    Ok(Reply { text: last.unwrap_or(done.text), ..done })
}

async fn cancel(joined: &Joined, scene: &str, reason: Option<String>) -> Result<Reply, Failure> {
    let mut arguments = json!({"scene_id": scene});
    if let (Some(reason), Value::Object(arguments)) = (reason, &mut arguments) {
        arguments.insert("reason".to_owned(), reason.into());
    }
    Ok(reply(call(joined, "cancel_generation", arguments).await?))
}

async fn list(joined: &Joined, args: &ListArgs) -> Result<Reply, Failure> {
    let filter = match &args.filter {
        FilterArgs { active: true, .. } => "active",
        FilterArgs { completed: true, .. } => "completed",
        FilterArgs { failed: true, .. } => "failed",
        FilterArgs { active: false, completed: false, failed: false } => "all",
    };
    let mut arguments = json!({"filter": filter, "sort_by": "started_at"});
    if let Value::Object(arguments) = &mut arguments {
        for (name, value) in [("limit", args.limit), ("offset", args.offset)] {
            arguments.extend(value.map(|it| (name.to_owned(), it.into())));
        }
    }
    Ok(reply(call(joined, "list_generations", arguments).await?))
}

/// Calls a tool, and returns its answer unless it refuses.
async fn call(
    joined: &Joined,
    tool: &str,
    arguments: Value,
) -> Result<Map<String, Value>, Failure> {
    let tools = Tools::new(&[TOOLSET.to_owned()])
        .map_err(|error| Failure::refused("toolset_unknown", error.to_string()))?;
    let call = Call {
        runtime: &joined.runtime,
        actor: joined.actor(),
        person: Person::OutOfReach,
        takes_tasks: false,
        options: &joined.config.dialects(),
        request_id: None,
        is_stale: false,
    };
    let Some(calling) = tools.call(tool, &call, object(arguments)) else {
        return Err(Failure::refused("tool_unknown", format!("there is no tool `{tool}`")));
    };
    let answer = calling.await;
    let said: Vec<String> =
        [Some(answer.text.clone()), answer.postscript()].into_iter().flatten().collect();
    let said = words::in_commands(&said.join("\n\n"));
    let mut body = object(answer.body);
    if answer.is_error {
        return Err(failure(&body, &said));
    }
    body.insert("result".to_owned(), said.into());
    Ok(body)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Makes the reply of an answer. An answer with `ok: false` sets the exit code to 1.
fn reply(body: Map<String, Value>) -> Reply {
    let said = body.get("result").and_then(Value::as_str).unwrap_or_default();
    let said = text::lines(said);
    let is_fine = body.get("ok") != Some(&Value::Bool(false));
    Reply { is_fine, ..Reply::new(Value::Object(body), said) }
}

/// Turns a tool's refusal into a failure: the text behind 💡 is the hint.
fn failure(body: &Map<String, Value>, said: &str) -> Failure {
    let refusal = body.get("refusal");
    let find = |name: &str| refusal.and_then(|it| it.get(name)).and_then(Value::as_str);
    let code = find("code").unwrap_or("refused");
    if code == "parameter_invalid" {
        return Failure::usage(find("message").unwrap_or(said));
    }
    let (message, hint) = words::parted(said);
    let may_work_later = refusal.is_some_and(|it| it.get("retry_after_ms").is_some());
    let failure = if may_work_later {
        Failure::fault(code, message)
    } else {
        Failure::refused(code, message)
    };
    Failure { hint, ..failure }
}
