//! `milepost gate`: what runs wait for, and a person's answer to it.
//!
//! An answer given here counts as a person's own, so it must come through a person's door. It is
//! bound to what was shown: someone at a terminal is shown it and asked; elsewhere the digest is
//! named, or with `--yes` it is what the gate showed when it opened. Whether that still counts, the
//! engine says.

use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use definition::{Answers, Digest, Effect, GateOption};
use engine::{
    Answer, AnswerGate, Artifact, Fact, FileFact, OpenGate, Pick, Question, Refusal, Remedy, Shown,
};
use runtime::{ExecuteError, Request, Row, RunFilter, Target, View, World as _};
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::{
    commands::run::short,
    complete,
    door::{PersonsDoor, TokenArgs},
    failure::Failure,
    join::Joined,
    output::{ALERT, BOLD, DIM, GOOD, NAME, Output, Reply, table::Grid, text},
    wire,
};

/// How many waiting runs are listed.
const LISTED_MAX: u32 = 100;
/// How many lines of an artifact are shown.
const LINES_MAX: usize = 30;
/// How much of a digest must be given, in letters.
const DIGEST_LETTERS_MIN: usize = 12;
/// What is said of a file that no terminal can show.
const NOT_SHOWN: &str =
    "It is not text, or it is too large to show here: open it before you answer.";

/// What `milepost gate` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without a command, it shows what waits for you and how to answer it.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do with gates.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List what waits for an answer
    #[command(visible_alias = "ls")]
    List,
    /// Show what a run asks, with the files it is about
    Show {
        /// The run: its id, the beginning of one, or its key; not needed if only one waits
        #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::waiting))]
        run: Option<String>,
    },
    /// Answer yes
    #[command(after_help = "Examples:\n  milepost gate approve run_01k9w3m6q2\n  milepost gate \
                            approve 0204 --answer post --feedback 'with the new title'\n  milepost \
                            gate approve 0204 --digest 3f2a9c0d1e44   exactly what was \
                            shown\n\nThe answer is yours: it needs a terminal, or a token with the \
                            scope `approve`.")]
    Approve(AnswerArgs),
    /// Send the work back; with `--answer`, any other answer
    #[command(after_help = "Example:\n  milepost gate reject 0204 --feedback 'name the risks'")]
    Reject(AnswerArgs),
}

/// What an answer takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    /// The run: its id, the beginning of one, or its key; not needed if only one waits
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::waiting))]
    run: Option<String>,
    /// One of the gate's own answers, by name
    #[arg(long, value_name = "NAME")]
    answer: Option<String>,
    /// What you want changed, or known
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    feedback: String,
    /// What you were shown, as `gate show` names it: refused if it has changed since
    #[arg(long, value_name = "HEX")]
    digest: Option<String>,
    /// Do not ask: needed where there is no terminal to ask on, unless `--digest` is given
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    token: TokenArgs,
}

/// Runs the command.
pub(crate) async fn perform(joined: &Joined, args: Args, output: Output) -> Result<Reply, Failure> {
    let Some(command) = args.command else {
        return match waiting(joined).await?.as_slice() {
            [_] => show(joined, None, output).await,
            _ => list(joined, output).await,
        };
    };
    match command {
        Command::List => list(joined, output).await,
        Command::Show { run } => show(joined, run.as_deref(), output).await,
        Command::Approve(args) => answer(joined, args, Answer::Approve, output).await,
        Command::Reject(args) => answer(joined, args, Answer::Reject, output).await,
    }
}

/// Returns the runs that wait for an answer.
async fn waiting(joined: &Joined) -> Result<Vec<Row>, Failure> {
    let statuses = vec!["waiting".to_owned()];
    let filter = RunFilter { statuses, limit: LISTED_MAX, ..RunFilter::default() };
    Ok(joined.runtime.list_runs(filter).await?.rows)
}

async fn list(joined: &Joined, output: Output) -> Result<Reply, Failure> {
    let rows = waiting(joined).await?;
    let mut grid =
        Grid::new(&["RUN", "KEY", "ABOUT", "STEP", "SINCE", "ASKS"]).flexible(&[1, 2, 3, 5]);
    let mut gates = Vec::new();
    for row in &rows {
        let view = joined.runtime.view(row.run, None).await?;
        // It may have been answered between the two looks.
        let Some(gate) = view.state.standing.open_gate() else { continue };
        let id = grid.paint(NAME, &short(row.run));
        let since = text::ago(joined.runtime.now(), gate.opened_at);
        let it = &row.summary;
        let key = text::line(it.key.as_deref().unwrap_or_default());
        let about = text::line(if it.title.is_empty() { &it.workflow } else { &it.title });
        grid.add(vec![
            id,
            key,
            about,
            text::line(gate.step.as_str()),
            since,
            text::line(&gate.ask),
        ]);
        gates.push(json!({"run": wire::row(row), "gate": wire::gate(gate, None)}));
    }
    let is_empty = gates.is_empty();
    let text = if is_empty { String::new() } else { output.draw(grid) };
    let nothing = || is_empty.then(|| "Nothing waits for an answer.".to_owned());
    let how = || {
        Some(
            "Look at one with `milepost gate show RUN`, and answer it with `approve` or `reject`."
                .to_owned(),
        )
    };
    let note = joined.note().or_else(nothing).or_else(how);
    Ok(Reply::new(json!({"gates": gates}), text).with_note(note))
}

async fn show(joined: &Joined, run: Option<&str>, output: Output) -> Result<Reply, Failure> {
    let (view, shown) = load(joined, run).await?;
    let gate = view.state.standing.open_gate().ok_or(Refusal::GateNotOpen)?;
    let json = json!({"run": view.state.run.short(), "gate": wire::gate(gate, Some(&shown))});
    let text = describe_whole(joined, &view, gate, &shown, output.width()).await;
    let how = commands(gate, &short(view.state.run), shown.digest.short());
    Ok(Reply::new(json, text).with_note(format!("{DIM}{how}{DIM:#}")))
}

async fn answer(
    joined: &Joined,
    args: AnswerArgs,
    answer: Answer,
    output: Output,
) -> Result<Reply, Failure> {
    let door = PersonsDoor::find(&joined.config, &args.token, "answer")?;
    let (view, shown) = load(joined, args.run.as_deref()).await?;
    let run = view.state.run;
    let gate = view.state.standing.open_gate().ok_or(Refusal::GateNotOpen)?;
    let answer = args.answer.map_or(answer, Answer::Named);
    let digest = match args.digest.as_deref() {
        Some(text) => find_digest(text, gate, &shown)?,
        None if door.is_terminal() && !output.is_json => {
            output.say(&describe_whole(joined, &view, gate, &shown, output.width()).await);
            if !args.yes && !confirm(gate, &answer, output)? {
                return Err(Failure::refused("not_answered", "nothing was answered"));
            }
            shown.digest
        }
        None if args.yes => gate.digest.clone(),
        None => return Err(not_confirmed(&short(run))),
    };
    let command = engine::Command::AnswerGate(Box::new(AnswerGate {
        answer,
        feedback: args.feedback,
        by: door.by().to_owned(),
        how: door.how(),
        digest: Some(digest),
    }));
    let actor = door.actor(&joined.config);
    let request = Request { target: Target::Run(run), command, actor, request_id: None };
    let outcome = joined.runtime.execute(request).await.map_err(|it| refused(it, &short(run)))?;
    let state = &outcome.view.state;
    let given = state.answers.last();
    let said = given.map(|it| it.answer.clone()).unwrap_or_default();
    let step = given.map(|it| it.step.to_string()).unwrap_or_default();
    let now = state.current.as_ref().map(ToString::to_string).unwrap_or_default();
    let json = json!({"run": wire::run(&outcome.view), "answer": said, "step": step});
    let status = state.standing.as_str();
    let place = if state.standing.is_live() { format!(" at step `{now}`") } else { String::new() };
    let text = format!("answered `{said}` at step `{step}`; {} is {status}{place}", short(run));
    Ok(Reply::new(json, text::line(&text)))
}

/// Loads a run that waits: the one that is named, or the only one.
async fn load(joined: &Joined, named: Option<&str>) -> Result<(View, Shown), Failure> {
    let run = match named {
        Some(text) => joined.runtime.find_run(text).await?,
        None => match waiting(joined).await?.as_slice() {
            [only] => only.run,
            [] => return Err(Refusal::GateNotOpen.into()),
            several => {
                let ids: Vec<String> = several.iter().map(|it| short(it.run)).collect();
                let message = format!("{} runs wait for an answer: name one", ids.len());
                return Err(
                    Failure::usage(message).with_hint(format!("one of: {}", ids.join(", ")))
                );
            }
        },
    };
    // What a person wrote into its file since is part of what is asked about.
    let view = match joined.runtime.take_in_run(run).await {
        Ok((view, _)) => view,
        Err(ExecuteError::Refused(Refusal::WorkspaceNotHere { .. })) => {
            joined.runtime.view(run, None).await?
        }
        Err(error) => return Err(error.into()),
    };
    let shown = joined.runtime.find_shown(&view).await?.ok_or(Refusal::GateNotOpen)?;
    Ok((view, shown))
}

/// Says what a gate asks, with the files that it is about.
async fn describe_whole(
    joined: &Joined,
    view: &View,
    gate: &OpenGate,
    shown: &Shown,
    width: usize,
) -> String {
    let mut text = describe(view, gate, shown, width);
    for artifact in &shown.artifacts {
        text.push_str(&content(joined, view, artifact).await);
    }
    text
}

/// Words why an answer was not taken, for someone who has just given it.
fn refused(error: ExecuteError, id: &str) -> Failure {
    let remedy =
        if let ExecuteError::Refused(refusal) = &error { Some(refusal.remedy()) } else { None };
    let failure = Failure::from(error);
    let hint = match remedy {
        Some(Remedy::SendBack { answer }) => format!(
            "send it back: `milepost gate reject {id} --answer {} --feedback '…'`",
            quoted(&answer)
        ),
        Some(Remedy::AnswerOtherwise) => {
            format!("give another answer: `milepost gate show {id}` lists them")
        }
        Some(Remedy::Pick { what: Pick::Answer, among }) => {
            let names: Vec<String> = among.iter().map(|it| format!("`{it}`")).collect();
            format!("name one with `--answer`: {}", names.join(", "))
        }
        Some(Remedy::Clear { condition, .. }) => {
            format!("make `{condition}` false, then answer again")
        }
        Some(Remedy::AskPerson { .. }) => {
            "answer in a terminal, or with a token that has the scope `approve`".to_owned()
        }
        Some(Remedy::Look) => "`milepost gate list` shows what waits for an answer".to_owned(),
        _ => return failure,
    };
    failure.with_hint(hint)
}

fn not_confirmed(id: &str) -> Failure {
    let message = "nothing was answered: you were not asked";
    Failure::refused("not_confirmed", message).with_hint(format!(
        "look at it with `milepost gate show {id}`, then answer with `--digest` as it says, or with \
         `--yes`"
    ))
}

/// Returns the digest that `text` is the beginning of: of what is there now, or of what was when
/// the gate opened. Any other is of something that is no more, and the engine refuses it.
fn find_digest(text: &str, gate: &OpenGate, shown: &Shown) -> Result<Digest, Failure> {
    let text = text.trim().to_lowercase();
    if text.len() < DIGEST_LETTERS_MIN {
        return Err(Failure::usage(format!(
            "`{text}` is too short: give at least {DIGEST_LETTERS_MIN} letters of the digest"
        )));
    }
    let known = [&shown.digest, &gate.digest];
    let found = known.into_iter().find(|it| it.as_str().starts_with(&text));
    Ok(found.cloned().unwrap_or_else(|| Digest::of(text.as_bytes())))
}

/// Returns a command for each answer, with what it leads to.
fn commands(gate: &OpenGate, id: &str, digest: &str) -> String {
    let approving = first(gate, |it| matches!(it, Effect::Approve));
    let returning = first(gate, |it| matches!(it, Effect::Back(_)));
    let lines = gate.options.iter().map(|it| {
        let words = match &it.effect {
            _ if Some(it) == approving => "approve".to_owned(),
            _ if Some(it) == returning => "reject --feedback '…'".to_owned(),
            Effect::Approve | Effect::Skip => format!("approve --answer {}", quoted(&it.name)),
            Effect::Back(_) | Effect::Fail | Effect::Cancel => {
                format!("reject --answer {}", quoted(&it.name))
            }
        };
        let (verb, rest) = words.split_once(' ').unwrap_or((&words, ""));
        let rest = if rest.is_empty() { String::new() } else { format!(" {rest}") };
        let (name, effect) = (text::line(&it.name), effect(gate, it));
        format!("milepost gate {verb} {id} --digest {digest}{rest}   answers `{name}`: {effect}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
    let name = text::line(name);
    if is_plain { name } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

fn effect(gate: &OpenGate, option: &GateOption) -> String {
    match &option.effect {
        Effect::Approve => "goes on".to_owned(),
        Effect::Back(step) => format!("back to {}", text::line(step.as_str())),
        Effect::Skip if gate.part.is_some() => "leaves the part out".to_owned(),
        Effect::Skip => "leaves the step out".to_owned(),
        Effect::Fail => "the run fails".to_owned(),
        Effect::Cancel => "cancels the run".to_owned(),
    }
}

fn confirm(gate: &OpenGate, answer: &Answer, output: Output) -> Result<bool, Failure> {
    output.ask(&question(gate, answer))
}

/// Asks whether an answer is meant: by the name that the gate has for it, with what it leads to.
fn question(gate: &OpenGate, answer: &Answer) -> String {
    let approving = || first(gate, |it| matches!(it, Effect::Approve));
    let returning = || first(gate, |it| matches!(it, Effect::Back(_)));
    let (word, option) = match answer {
        Answer::Approve => ("approve", approving()),
        Answer::Reject => ("reject", returning()),
        Answer::Named(name) | Answer::Offered(name) => {
            let word = name.trim();
            let named = gate.options.iter().find(|it| it.name.eq_ignore_ascii_case(word));
            let meant = || match word.to_lowercase().as_str() {
                "approve" => approving(),
                "reject" => returning(),
                _ => None,
            };
            (word, named.or_else(meant))
        }
    };
    match option {
        Some(option) => format!("Answer `{}` ({})?", option.name, effect(gate, option)),
        // The engine says that there is no such answer, and which there are.
        None => format!("Answer `{word}`?"),
    }
}

/// Finds the first answer of a gate with an effect of this kind.
fn first(gate: &OpenGate, is_it: fn(&Effect) -> bool) -> Option<&GateOption> {
    gate.options.iter().find(|it| is_it(&it.effect))
}

fn describe(view: &View, gate: &OpenGate, shown: &Shown, width: usize) -> String {
    let title = text::line(&view.state.title());
    let name = text::line(view.workflow.name.as_str());
    let title = if title.is_empty() { name } else { format!("{title} ({name})") };
    let mut text = format!("{BOLD}{}{BOLD:#}\n", text::cut(&title, width));
    text.push_str(&asked(gate, &shown.artifacts, width));
    if let Some(said) = &shown.said {
        text.push_str(&quote("the agent says: ", said, width));
    }
    let who = match gate.answers {
        Answers::Verified => "only a person's own answer counts",
        Answers::Relayed => "an agent may pass the answer on",
    };
    text.push_str(&format!("  {DIM}{who}; digest {}{DIM:#}\n", shown.digest.short()));
    if shown.digest != gate.digest {
        text.push_str(&format!("  {ALERT}The files have changed since it was asked.{ALERT:#}\n"));
    }
    text
}

/// Returns what a gate asks and which answers it takes.
pub(crate) fn asked(gate: &OpenGate, artifacts: &[Artifact], width: usize) -> String {
    let step = text::line(gate.step.as_str());
    let mut text =
        format!("{ALERT}Waits for a person{ALERT:#} at {step}\n{}", quote("", &gate.ask, width));
    for artifact in artifacts {
        let (path, size) = (text::line(&artifact.path), text::bytes(artifact.size));
        let is_same = gate.artifacts.iter().any(|it| it == artifact);
        let changed = if is_same { "" } else { ", changed since it was asked" };
        let digest = artifact.sha256.short();
        text.push_str(&format!("  - {path}  {DIM}{digest}, {size}{changed}{DIM:#}\n"));
    }
    for option in &gate.options {
        let (name, effect) = (text::line(&option.name), effect(gate, option));
        text.push_str(&format!("  {GOOD}{name}{GOOD:#}: {effect}\n"));
    }
    text
}

/// Returns a text that an agent may have written a part of. More than one line of it are marked,
/// so that none can pass for a line of ours.
fn quote(before: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(4);
    let wrapped = text::wrap(text::lines(text).trim(), room, 0);
    if before.width() + wrapped.width() <= room && wrapped.lines().count() <= 1 {
        return format!("  {DIM}{before}{DIM:#}{wrapped}\n");
    }
    let head = if before.is_empty() { String::new() } else { format!("  {DIM}{before}{DIM:#}\n") };
    let lines = wrapped.lines().map(|it| format!("  {DIM}│{DIM:#} {it}\n"));
    head + &lines.collect::<String>()
}

/// Returns the beginning of an artifact, or why it is not shown.
async fn content(joined: &Joined, view: &View, artifact: &Artifact) -> String {
    let question = Question::File(artifact.path.clone());
    let (root, home) = joined.runtime.folders_of(view);
    let fact = joined.world.look((&root, &home), &question).await;
    let shown = match fact {
        Some(Fact::File(FileFact::Present { text: Some(text), .. })) => beginning(&text),
        Some(Fact::File(FileFact::Present { text: None, .. })) => {
            format!("{ALERT}{NOT_SHOWN}{ALERT:#}")
        }
        Some(Fact::File(FileFact::Unreadable(problem))) => {
            format!("{ALERT}It cannot be read: {}.{ALERT:#}", text::line(&problem))
        }
        Some(
            Fact::File(FileFact::Missing)
            | Fact::Git(_)
            | Fact::Branch(_)
            | Fact::Check(_)
            | Fact::Model(_),
        )
        | None => return String::new(),
    };
    format!("\n{BOLD}{}{BOLD:#}\n{shown}\n", text::line(&artifact.path))
}

fn beginning(text: &str) -> String {
    let text = text::lines(text);
    let mut lines: Vec<String> =
        text.lines().take(LINES_MAX).map(|it| format!("{DIM}│{DIM:#} {it}")).collect();
    let more = text.lines().count().saturating_sub(LINES_MAX);
    if 0 < more {
        lines.push(format!("{DIM}│ … {}{DIM:#}", text::count(more, "more line")));
    }
    lines.join("\n")
}
