//! `milepost config`: every setting, its value, and where that comes from; and how to change one.

mod edit;

use clap::Subcommand;
use serde_json::json;

use crate::{
    config::{Config, Ignored, Origin, Problem, StorePlace},
    failure::Failure,
    output::{ALERT, BAD, DIM, Output, Reply, table::Grid, text},
};

/// What to do with settings.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print each setting, its value and where it comes from
    #[command(
        after_help = "Later sources count more: built-in defaults, config.toml in the user's \
                            configuration folder, .milepost/config.toml of the project, \
                            environment variables MILEPOST_SECTION_KEY, flags.\n\nExamples:\n  \
                            milepost config show\n  MILEPOST_BRIEF_TOKENS=800 milepost config show"
    )]
    Show,
    /// Write a value to your own `config.toml`, or to the project's
    #[command(
        after_help = "Examples:\n  milepost config set log.level debug\n  milepost config set \
                            gates.answers verified --scope project"
    )]
    Set(edit::SetArgs),
    /// Take a value out of the file
    #[command(after_help = "Example:\n  milepost config unset log.level")]
    Unset(edit::UnsetArgs),
    /// Open the file in your editor (`VISUAL`, `EDITOR`)
    Edit(edit::FileArgs),
}

/// Runs the command.
pub(crate) async fn perform(
    command: Command,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    match command {
        Command::Show => Ok(show(config, output)),
        Command::Set(args) => edit::set(&args, config),
        Command::Unset(args) => edit::unset(&args, config),
        Command::Edit(args) => edit::edit(&args, config, output).await,
    }
}

/// Shows the settings.
fn show(config: &Config, output: Output) -> Reply {
    let mut grid = Grid::wrapped(&["SETTING", "VALUE", "FROM"]).flexible(&[1, 2]);
    let mut settings = Vec::new();
    for (setting, value, origin) in config.rows() {
        let shown = config.shown(setting, value);
        let from = match origin {
            Origin::Default => grid.paint(DIM, "default"),
            Origin::File(path) => config.places.short(path),
            Origin::Environment(_) | Origin::Flag(_) => origin.to_string(),
        };
        grid.add(vec![setting.name.to_owned(), text::line(&shown), from]);
        settings.push(json!({
            "name": setting.name,
            "value": value.to_json(),
            "about": setting.doc,
            "since": setting.since,
            "origin": {"kind": origin.kind(), "from": origin.to_string()},
        }));
    }
    let database = match config.store_place() {
        StorePlace::Memory => "in memory".to_owned(),
        StorePlace::Project(path) | StorePlace::Named(path) => path.display().to_string(),
    };
    let places = &config.places;
    let json = json!({
        "settings": settings,
        "project": places.project.display().to_string(),
        "root": places.root.display().to_string(),
        "database": database,
        "user_folder": places.user.as_ref().map(|it| it.display().to_string()),
        "unused": config.unused,
        "unknown": config.strange,
        "ignored": config.ignored.iter().map(|it| json!({
            "name": it.setting, "from": it.place, "why": it.why,
        })).collect::<Vec<_>>(),
        "problems": config.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    let mut text = output.draw(grid);
    text.push_str(&format!("\n{DIM}project{DIM:#}   {}\n", places.project.display()));
    if places.root != places.project {
        text.push_str(&format!("{DIM}worktree{DIM:#}  {}\n", places.root.display()));
    }
    text.push_str(&format!("{DIM}database{DIM:#}  {database}\n"));
    if !config.unused.is_empty() {
        let names = config.unused.join(", ");
        text.push_str(&format!("{ALERT}not used by this release{ALERT:#}: {names}\n"));
    }
    for strange in &config.strange {
        text.push_str(&format!("{ALERT}unknown{ALERT:#}: {}\n", text::line(strange)));
    }
    for Ignored { setting, place, why } in &config.ignored {
        text.push_str(&format!("{ALERT}ignored{ALERT:#}: `{setting}` ({place}): {why}\n"));
    }
    let is_fine = config.problems.is_empty();
    let note =
        (!is_fine).then(|| format!("{BAD}error{BAD:#}: {}", refuse(&config.problems).message));
    Reply { is_fine, ..Reply::new(json, text).with_note(note) }
}

/// Returns the refusal to work with a wrong configuration, with every problem in it.
pub(crate) fn refuse(problems: &[Problem]) -> Failure {
    let count = text::count(problems.len(), "problem");
    let list: Vec<String> = problems.iter().map(|it| format!("\n  - {it}")).collect();
    let message = format!("the configuration has {count}:{}", list.concat());
    Failure::refused("config_invalid", message)
        .with_hint("`milepost config show` prints what is set, and where")
}
