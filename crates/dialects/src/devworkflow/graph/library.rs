//! Which graphs there are: those that the server knows by name, and those in a folder of the
//! project.

use definition::{Diagnostic, Form, MemoryFiles, ParseError, Severity, Workflow, parse_graph};
use engine::{GRAPH_BYTES_MAX, Listed, Refusal};

use super::{answer::Failure, context::find_named, words::cut};
use crate::kit::{Ask, Caller, Look};

/// How many near names are told to anyone who gave one that is unknown.
const NEAR_MAX: usize = 3;
/// The name of a definition that came without a file.
const INLINE: &str = "inline.yaml";

/// What may be written to start a workflow.
pub(super) const FORMS: &str = "**Accepted forms of `context`:**\n1. `workflow: NAME`, a workflow \
     that `workflow_discovery` lists.\n2. `workflow: NAME`, then a line `yaml:` and below it a \
     definition in YAML, which goes by that name.\n3. A definition in YAML that has a `name`.";

/// A graph that was found by its name.
pub(super) struct Lookup {
    pub(super) workflow: Workflow,
    /// Where it lies, in words for people.
    pub(super) file: Option<String>,
}

/// Looks for the graph of this name: exactly, or in another case if only one fits then.
pub(super) fn find(
    caller: &Caller,
    name: String,
    then: impl FnOnce(Result<Lookup, Failure>) -> Ask + Send + 'static,
) -> Ask {
    let wanted = name.clone();
    find_exact(caller, name, move |own, exact| match exact {
        Ok(Some(found)) => then(Ok(found)),
        Ok(None) => {
            Look::Shipped(Box::new(move |shipped| then(meant(&wanted, own, shipped)))).into()
        }
        Err(failure) => then(Err(failure)),
    })
}

/// Looks for the graph of this very name: in folders of the project, else among all that the server
/// knows, of which no other is read for it. `then` gets those of the folders, too.
pub(super) fn find_exact(
    caller: &Caller,
    name: String,
    then: impl FnOnce(Vec<(String, Workflow)>, Result<Option<Lookup>, Failure>) -> Ask + Send + 'static,
) -> Ask {
    let found = move |own: Vec<(String, Workflow)>| {
        if let Some((file, workflow)) = own.iter().find(|(_, it)| it.name.as_str() == name) {
            let found = Lookup { workflow: workflow.clone(), file: Some(file.clone()) };
            return then(own, Ok(Some(found)));
        }
        let listed = |listed: Result<Listed, Refusal>| match listed {
            Ok(it) if it.workflow.form == Form::Graph => {
                then(own, Ok(Some(Lookup { workflow: it.workflow, file: Some(it.origin) })))
            }
            Err(Refusal::WorkflowInvalid { name, problem }) => {
                then(own, Err(invalid(&name, &problem)))
            }
            Ok(_) | Err(_) => then(own, Ok(None)),
        };
        Look::Listed(name, Box::new(listed)).into()
    };
    Look::Library(usual_folder(caller), Box::new(found)).into()
}

/// Returns the graph that is meant by a name which none has exactly.
fn meant(
    name: &str,
    mut known: Vec<(String, Workflow)>,
    shipped: Vec<Listed>,
) -> Result<Lookup, Failure> {
    for Listed { workflow, origin } in graphs(shipped) {
        if !known.iter().any(|(_, it)| it.name == workflow.name) {
            known.push((origin, workflow));
        }
    }
    let names: Vec<&str> = known.iter().map(|(_, it)| it.name.as_str()).collect();
    let found =
        find_named(&names, name).map(ToOwned::to_owned).ok_or_else(|| unknown(name, &names))?;
    let found = known.into_iter().find(|(_, it)| it.name.as_str() == found);
    let (file, workflow) = found.ok_or_else(|| unknown(name, &[]))?;
    Ok(Lookup { workflow, file: Some(file) })
}

/// The folder of workflows unless a call names another.
pub(super) fn usual_folder(caller: &Caller) -> String {
    format!("{}/workflows", caller.options.devworkflow.directory.trim_end_matches('/'))
}

/// Leaves out what is not a graph.
pub(super) fn graphs(listed: Vec<Listed>) -> impl Iterator<Item = Listed> {
    listed.into_iter().filter(|it| it.workflow.form == Form::Graph)
}

/// Reads a graph that came with a call, and what is doubtful about it.
pub(super) fn read(name: Option<&str>, yaml: &str) -> Result<(Workflow, Vec<String>), Failure> {
    super::answer::check_size("the YAML", yaml, GRAPH_BYTES_MAX)?;
    let files = MemoryFiles([(INLINE.to_owned(), yaml.to_owned())].into());
    match parse_graph(name, INLINE, &files) {
        Ok((workflow, doubts)) => Ok((workflow, told(&doubts))),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Returns what is wrong or doubtful, a line each, without the name of a file that nobody has.
pub(super) fn told(diagnostics: &[Diagnostic]) -> Vec<String> {
    let plain = |it: &Diagnostic| {
        let text = it.to_string();
        match text.strip_prefix(INLINE) {
            Some(rest) if rest.starts_with(": ") => rest.trim_start_matches(": ").to_owned(),
            Some(rest) => format!("line {}", rest.trim_start_matches(':')),
            None => text,
        }
    };
    diagnostics.iter().map(plain).collect()
}

fn unreadable(error: &ParseError) -> Failure {
    let errors: Vec<Diagnostic> =
        error.diagnostics.iter().filter(|it| it.severity == Severity::Error).cloned().collect();
    // Without its bare bones it is not a definition; with them it is one that does not hold together.
    let is_bare = errors.iter().any(|it| matches!(it.code, "yaml_invalid" | "key_missing"));
    let cause = if is_bare {
        "Invalid YAML content - failed validation"
    } else {
        "Failed to load workflow from provided YAML - invalid structure"
    };
    Failure::new(
        "YAML_FORMAT_ERROR",
        format!("❌ **YAML Format Error:** {cause}\n\n- {}", told(&errors).join("\n- ")),
        "fix what is named; `workflow_creation_guidance` has a whole example",
    )
}

fn invalid(name: &str, problem: &str) -> Failure {
    Failure::new(
        "WORKFLOW_INVALID",
        format!("❌ **Workflow Invalid:** {}\n\n{problem}", cut(name, 120)),
        "fix its file; `validate_workflow_file` checks it",
    )
}

fn unknown(name: &str, names: &[&str]) -> Failure {
    let name = cut(name, 120);
    let near = nearest(&name, names);
    let near = if near.is_empty() { "none".to_owned() } else { near.join(", ") };
    Failure::new(
        "WORKFLOW_NOT_FOUND",
        format!(
            "❌ **Workflow Not Found:** {name}\n\n**Nearest names:** {near}\n\n\
             `workflow_discovery` lists all of them; `workflow_creation_guidance` says how to \
             write one."
        ),
        "call `workflow_discovery`, then start one of those it lists",
    )
}

/// Returns the names that have most in common with `wanted`, best first.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    let letters = |text: &str| -> String {
        text.to_lowercase().chars().filter(|it| it.is_alphanumeric()).collect()
    };
    let own = letters(wanted);
    let shared = |name: &str| strsim::sorensen_dice(&own, &letters(name));
    let mut ranked: Vec<(f64, &str)> = names.iter().map(|it| (shared(it), *it)).collect();
    // Names that have nothing in common help only where there are no others.
    if ranked.iter().any(|(shared, _)| 0.0 < *shared) {
        ranked.retain(|(shared, _)| 0.0 < *shared);
    }
    ranked.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(two.1)));
    ranked.into_iter().take(NEAR_MAX).map(|(_, it)| it).collect()
}

/// Returns a folder or file that a caller names as it is seen from the root; nothing outside of it.
pub(super) fn inside(caller: &Caller, path: &str) -> Result<String, String> {
    let (root, path) = (caller.root.as_str(), path.trim());
    let relative = match path.strip_prefix(root) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        Some(_) | None => path,
    };
    let is_absolute = relative.len() == path.len()
        && (path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":"));
    let climbs = relative.split(['/', '\\']).any(|it| it == "..");
    if is_absolute || climbs || path.contains('\0') {
        return Err(format!("`{}` lies outside of the project", cut(path, 120)));
    }
    let parts: Vec<&str> = relative.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_come_first() {
        let names = ["Debugging Workflow", "Default Coding Workflow", "Tiny", "Simple"];
        assert_eq!(nearest("tini", &names).first(), Some(&"Tiny"));
        let found = nearest("coding workflow", &names);
        assert_eq!(found.first(), Some(&"Default Coding Workflow"));
        assert_eq!(found, ["Default Coding Workflow", "Debugging Workflow", "Tiny"]);
        assert_eq!(nearest("zzz", &names).len(), 3);
    }
}
