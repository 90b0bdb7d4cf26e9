//! `milepost workflow check`: what is wrong, in the files themselves, with a caret and a way out.

use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use clap::ValueHint;
use clap_complete::ArgValueCompleter;
use definition::{Diagnostic, Severity, find_label};
use engine::Refusal;
use runtime::{Found, World as _};
use serde_json::json;
use world::{RealWorld, WorldSettings};

use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{ALERT, BAD, GOOD, Output, Reply, text},
};

/// What `workflow check` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// A workflow by name, its folder or file, or a folder of them; without it, all
    #[arg(value_name = "NAME|PATH", value_hint = ValueHint::AnyPath, add = ArgValueCompleter::new(complete::workflows))]
    what: Option<String>,
}

struct Checked {
    found: Found,
    diagnostics: Vec<Diagnostic>,
}

/// Checks.
pub(super) fn perform(joined: &Joined, args: &CheckArgs, output: Output) -> Result<Reply, Failure> {
    let found = match &args.what {
        None => joined.world.find_workflows(),
        Some(what) => find(joined, what)?,
    };
    let mut checked: Vec<Checked> = found.into_iter().map(|it| check(joined, it)).collect();
    checked.sort_by(|one, two| one.found.name.cmp(&two.found.name));
    let count = |severity: Severity| {
        let all = checked.iter().flat_map(|it| &it.diagnostics);
        all.filter(|it| it.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let json = json!({
        "workflows": checked.iter().map(|it| json!({
            "name": it.found.name.as_str(),
            "origin": it.found.origin,
            "diagnostics": it.diagnostics,
        })).collect::<Vec<_>>(),
        "errors": errors,
        "warnings": warnings,
    });
    let text: String = checked.iter().map(|it| render(joined, it, output)).collect();
    let reply = Reply::new(json, text).with_note(sum_up(checked.len(), errors, warnings));
    Ok(Reply { is_fine: errors == 0, ..reply })
}

fn sum_up(workflows: usize, errors: usize, warnings: usize) -> String {
    let checked = format!("Checked {}", text::count(workflows, "workflow"));
    let (errors_text, warnings_text) =
        (text::count(errors, "error"), text::count(warnings, "warning"));
    match (errors, warnings) {
        (0, 0) => format!("{GOOD}{checked}: nothing is wrong.{GOOD:#}"),
        (0, _) => format!("{ALERT}{checked}: {warnings_text}.{ALERT:#}"),
        _ => format!("{BAD}{checked}: {errors_text}, {warnings_text}.{BAD:#}"),
    }
}

/// Finds what is meant: a workflow by its name, else a file or a folder.
fn find(joined: &Joined, what: &str) -> Result<Vec<Found>, Failure> {
    let all = joined.world.find_workflows();
    let known: Vec<String> = all.iter().map(|it| it.name.to_string()).collect();
    let named: Vec<Found> = all.into_iter().filter(|it| it.name.as_str() == what).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let path = joined.config.places.working.join(what);
    if path.is_file() {
        return find_graph(&path);
    }
    if !path.is_dir() {
        return Err(Refusal::WorkflowUnknown { name: what.to_owned(), known }.into());
    }
    let path = path.canonicalize()?;
    if !world::is_workflow(&path) {
        let inside = list(&path);
        if inside.is_empty() {
            let message = format!("`{what}` holds no workflow");
            let hint = "name a folder with `index.md` and `steps/`, or one with such folders in it";
            return Err(Failure::refused("workflow_missing", message).with_hint(hint));
        }
        return Ok(inside);
    }
    let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = list(path.parent().unwrap_or(&path));
    let found: Vec<Found> = beside.into_iter().filter(|it| it.name.as_str() == name).collect();
    if found.is_empty() {
        let message = format!("`{name}` cannot be the name of a workflow");
        return Err(Failure::refused("name_invalid", message).with_hint("rename the folder"));
    }
    Ok(found)
}

/// Finds the graph in a file.
fn find_graph(path: &Path) -> Result<Vec<Found>, Failure> {
    let path = path.canonicalize()?;
    let file = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = list(path.parent().unwrap_or(&path));
    let is_it = |it: &Found| it.file.as_ref() == Some(&file);
    let found: Vec<Found> = beside.into_iter().filter(is_it).collect();
    if found.is_empty() {
        let message = format!("`{file}` is not a graph");
        let failure = Failure::refused("name_invalid", message);
        return Err(failure.with_hint("name a workflow's folder, or a file that ends in `.yaml`"));
    }
    Ok(found)
}

fn list(folder: &Path) -> Vec<Found> {
    let workflow_dirs = vec![folder.to_owned()];
    let settings = WorldSettings { workflow_dirs, has_builtin: false, ..WorldSettings::default() };
    RealWorld::new(settings).find_workflows()
}

fn check(joined: &Joined, found: Found) -> Checked {
    let mut diagnostics = found.check();
    diagnostics.extend(find_forbidden(joined, &found));
    Checked { found, diagnostics }
}

/// Finds commands that the server would not run here. Those of the built-in workflows are a matter
/// of each project.
fn find_forbidden(joined: &Joined, found: &Found) -> Vec<Diagnostic> {
    let Some(workflow) = found.read().ok().filter(|_| !found.is_builtin) else { return Vec::new() };
    let (config, root) = (&joined.config, &joined.config.places.root);
    let permits = config.world().permits;
    let help = if config.flag("checks.allow") {
        "allow it with `milepost trust`; until then the step cannot be completed"
    } else {
        "set `checks.allow` to true in your own settings"
    };
    let mut forbidden = Vec::new();
    for step in &workflow.steps {
        let runs = step.checks.iter().map(|it| &it.run);
        for run in runs.filter(|it| !permits.allows_check(root, it)) {
            forbidden.push(Diagnostic {
                severity: Severity::Warning,
                code: "check_forbidden",
                message: format!("the server may not run `{}` here", run.join(" ")),
                help: Some(help.to_owned()),
                label: find_label(&workflow, step, "checks"),
            });
        }
    }
    forbidden
}

fn render(joined: &Joined, checked: &Checked, output: Output) -> String {
    let renderer = if output.is_colored() { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(output.width());
    let mut text = String::new();
    for diagnostic in &checked.diagnostics {
        let source = checked.found.files.read(&diagnostic.label.file).ok();
        let path = shown_path(joined, &checked.found, diagnostic);
        let group = group(diagnostic, source.as_deref(), &path);
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    text
}

fn group<'a>(diagnostic: &'a Diagnostic, source: Option<&'a str>, path: &str) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(text::line(&diagnostic.message)).id(diagnostic.code);
    let span = source.and_then(|source| Some((source, find_span(source, diagnostic)?)));
    let group = match span {
        Some((source, span)) => {
            let annotation = AnnotationKind::Primary.span(span);
            title.element(Snippet::source(source).path(path.to_owned()).annotation(annotation))
        }
        None => title.element(Origin::path(path.to_owned())),
    };
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(text::line(help))),
        None => group,
    }
}

/// Returns the bytes that the caret covers, if a line is to blame.
fn find_span(source: &str, diagnostic: &Diagnostic) -> Option<std::ops::Range<usize>> {
    let wanted = usize::try_from(diagnostic.label.line?).ok()?.checked_sub(1)?;
    let mut start = 0;
    let mut lines = source.split_inclusive('\n');
    for line in lines.by_ref().take(wanted) {
        start += line.len();
    }
    let line = lines.next().unwrap_or_default().trim_end_matches(['\n', '\r']);
    let byte_of = |letters: usize| line.char_indices().nth(letters).map_or(line.len(), |it| it.0);
    let column = usize::try_from(diagnostic.label.column.unwrap_or(1)).ok()?.saturating_sub(1);
    let width = usize::try_from(diagnostic.label.width.max(1)).ok()?;
    Some(start + byte_of(column)..start + byte_of(column + width))
}

/// Returns where the file is, so that it can be opened.
fn shown_path(joined: &Joined, found: &Found, diagnostic: &Diagnostic) -> String {
    let folder = Path::new(&found.origin);
    let file = &diagnostic.label.file;
    let places = &joined.config.places;
    if folder.is_dir() { places.short(&folder.join(file)) } else { file.clone() }
}
