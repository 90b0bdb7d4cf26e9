//! `milepost trust`: what the project brings that has power, and a person's word on it.
//!
//! Until then none of it counts. It must be a person's word: an agent that could allow a project its
//! commands could have any command run. So it takes a terminal, and `--yes` only leaves the question
//! out; where there is no terminal, it takes a token with the scope `approve`.

use clap::Subcommand;
use runtime::{RunFilter, World as _};
use serde_json::json;

use crate::{
    config::Config,
    door::{PersonsDoor, TokenArgs},
    failure::Failure,
    join::{Access, Joined},
    output::{ALERT, BOLD, DIM, GOOD, NAME, Output, Reply, table::Grid, text},
    trust::{Allowed, Powers, Standing},
};

/// How many runs that go on are looked at for the definitions that they are pinned to.
const RUNS_MAX: u32 = 500;

/// What `trust` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A project's own settings, commands (`checks`) and chores do nothing until you \
                  have allowed them here. What you allow is what is shown: when it changes, you are \
                  asked again.\n\nExamples:\n  milepost trust\n  milepost -C ../other trust\n  \
                  milepost trust list\n  milepost trust revoke"
)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Do not ask: what is shown is allowed
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    token: TokenArgs,
}

/// What else to do with what was allowed.
#[derive(Debug, Subcommand)]
enum Command {
    /// List the projects that were allowed something
    #[command(visible_alias = "ls")]
    List,
    /// Take back what this project was allowed
    Revoke,
}

/// Runs the command.
pub(crate) async fn perform(args: Args, config: Config, output: Output) -> Result<Reply, Failure> {
    match args.command {
        Some(Command::List) => Ok(list(&config, output)),
        Some(Command::Revoke) => revoke(&config),
        None => allow(&args, config, output).await,
    }
}

async fn allow(args: &Args, config: Config, output: Output) -> Result<Reply, Failure> {
    let joined = Joined::open(config, Access::Existing).await?;
    let config = &joined.config;
    let powers = gather(&joined).await?;
    let (trust, project) = (config.trust(), &config.places.project);
    let standing = trust.standing(project, &powers);
    let shown = project.display().to_string();
    let json = |is_allowed: bool| {
        json!({"project": shown, "is_allowed": is_allowed, "powers": powers,
            "digest": powers.digest().as_str()})
    };
    if let Some(text) = settled(standing, &shown) {
        return Ok(Reply::new(json(standing == Standing::Allowed), text));
    }
    let before = trust.find(project).map(|it| it.powers);
    output.say(&describe(&shown, &powers, before.as_ref()));
    let door = PersonsDoor::find(config, &args.token, "allow a project what it brings")?;
    let is_sure = args.yes || (door.is_terminal() && output.ask("Allow this?")?);
    if !is_sure {
        return Err(Failure::refused("not_allowed", "nothing was allowed")
            .with_hint("`--yes` allows it without a question"));
    }
    trust.allow(project, &powers, &joined.world.now().to_string()).map_err(|error| {
        Failure::fault("not_kept", format!("what you allowed could not be written down: {error}"))
    })?;
    let text = format!("{GOOD}allowed{GOOD:#} {}\n", text::line(&shown));
    Ok(Reply::new(json(true), text))
}

/// Returns what to say where there is nothing to allow.
fn settled(standing: Standing, project: &str) -> Option<String> {
    let project = text::line(project);
    match standing {
        Standing::NotNeeded => Some(format!("{project} brings nothing that needs trust\n")),
        Standing::Allowed => Some(format!("{project} is allowed all that it brings\n")),
        Standing::Changed | Standing::NotAllowed => None,
    }
}

/// Returns everything that the project brings, and what the workflows of its active runs do.
pub(crate) async fn gather(joined: &Joined) -> Result<Powers, Failure> {
    let mut powers = Powers::default();
    if let Some(wishes) = &joined.config.wishes {
        powers.config = Some(wishes.digest.clone());
        powers.settings.clone_from(&wishes.settings);
    }
    let listed = joined.runtime.list_workflows().0;
    let (builtin, own): (Vec<_>, Vec<_>) =
        listed.iter().partition(|it| world::is_builtin(&it.workflow.digest));
    for listed in own {
        powers.add(&listed.workflow);
    }
    let statuses = ["running", "waiting"].map(ToOwned::to_owned).to_vec();
    let filter = RunFilter { statuses, limit: RUNS_MAX, ..RunFilter::default() };
    for row in joined.runtime.list_runs(filter).await?.rows {
        // A run whose definition cannot be read has nothing done either.
        if let Ok(view) = joined.runtime.view(row.run, None).await {
            powers.add(&view.workflow);
        }
    }
    // A command of a built-in workflow matters to a project that uses the workflow, or that was
    // allowed the command before.
    let allowed = joined.config.trust().find(&joined.config.places.project);
    let allowed = allowed.map(|it| it.powers).unwrap_or_default();
    for listed in builtin {
        if powers.runs_checks_of(&listed.workflow) || allowed.runs_checks_of(&listed.workflow) {
            powers.add(&listed.workflow);
        }
    }
    Ok(powers)
}

fn describe(project: &str, powers: &Powers, before: Option<&Powers>) -> String {
    let known = before.map(Powers::lines).unwrap_or_default();
    let mut text = format!("{BOLD}{}{BOLD:#} brings:\n", text::line(project));
    for line in powers.lines() {
        let is_new = before.is_some() && !known.contains(&line);
        let mark = if is_new { format!("  {ALERT}new{ALERT:#}") } else { String::new() };
        text.push_str(&format!("  {}{mark}\n", text::line(&line)));
    }
    if !powers.checks.is_empty() {
        let what = "A command runs as you, in the project, and may run files of the project.";
        text.push_str(&format!("{DIM}{what}{DIM:#}\n"));
    }
    text
}

fn list(config: &Config, output: Output) -> Reply {
    let all = config.trust().list();
    let mut grid = Grid::new(&["PROJECT", "COMMANDS", "GIT", "SETTINGS", "ALLOWED"]).flexible(&[0]);
    for Allowed { project, at, powers } in &all {
        let project = grid.paint(NAME, &text::line(&project.display().to_string()));
        let Powers { settings, checks, chores, .. } = powers;
        let counts = [checks.len(), chores.len(), settings.len()].map(|it| it.to_string());
        let [checks, chores, settings] = counts;
        grid.add(vec![project, checks, chores, settings, text::line(at)]);
    }
    let json = json!({"allowed": all.iter().map(|it| json!({
        "project": it.project.display().to_string(), "at": it.at, "powers": it.powers,
    })).collect::<Vec<_>>()});
    let text = if all.is_empty() { String::new() } else { output.draw(grid) };
    let note = all.is_empty().then(|| "No project was allowed anything.".to_owned());
    Reply::new(json, text).with_note(note)
}

fn revoke(config: &Config) -> Result<Reply, Failure> {
    let project = &config.places.project;
    let shown = text::line(&project.display().to_string());
    let was_allowed = config.trust().revoke(project)?;
    let text = match was_allowed {
        true => format!("{shown} is no longer allowed anything\n"),
        false => format!("{shown} was not allowed anything\n"),
    };
    Ok(Reply::new(json!({"project": shown, "was_allowed": was_allowed}), text))
}
