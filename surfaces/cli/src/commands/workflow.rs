//! `milepost workflow`: list, draw, check and write workflows.

mod check;
mod new;
mod schema;
mod show;
mod trial;

use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use runtime::Listed;
use serde_json::json;

use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{BAD, NAME, Output, Reply, table::Grid, text},
    wire,
};

/// What to do with workflows.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the workflows that can be started here
    #[command(visible_alias = "ls")]
    List,
    /// Draw a workflow: its steps, and where each leads
    #[command(after_help = "Example:\n  milepost workflow show SPRINT_TASK")]
    Show {
        /// The workflow
        #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
        name: String,
    },
    /// Check workflows, and show what is wrong in the files themselves
    #[command(
        after_help = "Exits with 1 if there are errors; warnings alone do not.\n\nExamples:\n  \
                            milepost workflow check                          all of them\n  \
                            milepost workflow check SPRINT_TASK\n  milepost workflow check \
                            .milepost/workflows/mine   a folder"
    )]
    Check(check::CheckArgs),
    /// Write a small workflow that works, to begin with
    #[command(after_help = "Example:\n  milepost workflow new release")]
    New(new::NewArgs),
    /// Walk a workflow here, without an agent: you say what the agent and a person would
    #[command(after_help = "It is a dry run in a folder of its own: it touches none of your runs \
                            and files, runs no commands, and does nothing in a repository. Lines \
                            can also come through a pipe.\n\nExamples:\n  milepost workflow try \
                            SPRINT_TASK --key SHOP-12\n  printf 'ok\\nok\\n' | milepost workflow \
                            try mine")]
    Try(trial::TryArgs),
    /// Print the JSON Schema of what authors write, for editors
    #[command(
        after_help = "`workflow new` writes the schemas beside the workflow, and the line by \
                            which editors find them:\n  # yaml-language-server: $schema=PATH"
    )]
    Schema {
        /// Of which file: the front matter of `index.md` or of a step, or a graph
        #[arg(value_enum, default_value_t)]
        of: schema::Of,
    },
    /// Print the guide to writing workflows
    Guide,
}

/// The guide, as it was when this was built.
const GUIDE: &str = include_str!("../../../../docs/guide/writing-workflows.md");

/// Runs the command.
pub(crate) async fn perform(
    joined: &Joined,
    command: Command,
    output: Output,
) -> Result<Reply, Failure> {
    match command {
        Command::Try(args) => trial::perform(joined, args, output).await,
        Command::Schema { of } => Ok(of.print()),
        Command::List => Ok(list(joined, output)),
        Command::Show { name } => show::perform(joined, &name, output),
        Command::Check(args) => check::perform(joined, &args, output),
        Command::New(args) => new::perform(joined, &args),
        Command::Guide => Ok(Reply::new(json!({"guide": GUIDE}), GUIDE)),
    }
}

fn list(joined: &Joined, output: Output) -> Reply {
    let (listed, invalid) = joined.runtime.list_workflows();
    let mut grid = Grid::new(&["NAME", "STEPS", "DECIDER", "FROM", "GOAL"]).flexible(&[3, 4]);
    for it in &listed {
        let workflow = &it.workflow;
        let name = grid.paint(NAME, workflow.name.as_str());
        let decider = wire::decider(joined.runtime.resolve_decider(workflow));
        let goal = if workflow.goal.is_empty() { &workflow.title } else { &workflow.goal };
        grid.add(vec![
            name,
            workflow.work_steps().count().to_string(),
            decider.to_owned(),
            origin(joined, &it.origin),
            text::line(&text::filled_in_later(goal)),
        ]);
    }
    for it in &invalid {
        let name = grid.paint(BAD, &it.name);
        let problem = it.diagnostics.first().map(ToString::to_string).unwrap_or_default();
        let (steps, decider) = ("-".to_owned(), "-".to_owned());
        let problem = format!("cannot be used: {}", text::line(&problem));
        grid.add(vec![name, steps, decider, origin(joined, &it.origin), problem]);
    }
    let json = json!({
        "workflows": listed.iter().map(wire::workflow).collect::<Vec<_>>(),
        "invalid": invalid.iter().map(|it| json!({
            "name": it.name,
            "origin": it.origin,
            "diagnostics": it.diagnostics,
        })).collect::<Vec<_>>(),
    });
    let note = (!invalid.is_empty()).then(|| {
        let count = text::count(invalid.len(), "workflow");
        format!("{count} cannot be used: `milepost workflow check` shows why.")
    });
    Reply::new(json, output.draw(grid)).with_note(note)
}

/// Returns where a workflow is, as short as it can be said.
fn origin(joined: &Joined, origin: &str) -> String {
    let roots = [&joined.config.places.root, &joined.config.places.project];
    let inside = roots.iter().find_map(|it| std::path::Path::new(origin).strip_prefix(it).ok());
    text::line(&inside.map_or_else(|| origin.to_owned(), |it| it.display().to_string()))
}

/// Finds a workflow that can be started.
fn find(joined: &Joined, name: &str) -> Result<Listed, Failure> {
    let workflow = joined.runtime.find_workflow(name)?;
    let (listed, _) = joined.runtime.list_workflows();
    let origin = listed.into_iter().find(|it| it.workflow.name == workflow.name);
    let origin = origin.map(|it| it.origin).unwrap_or_default();
    Ok(Listed { workflow, origin })
}
