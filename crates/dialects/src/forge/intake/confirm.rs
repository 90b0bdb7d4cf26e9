//! All that follows from a confirmed request: the workspace, the branch, the request file and the
//! settings of the run. Nothing is looked at or written here.

use definition::Workflow;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    super::answer::Failure,
    branch::branch_name,
    context::Context,
    effort::{Effort, wrong_effort},
    flow,
    request::RequestFile,
    slug::{slugify, spec_name, with_slug},
    source::{TEXT, Tracker},
};
use crate::kit::Folder;

/// What a person chose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    effort: String,
    workspace_slug: String,
    use_current_branch: bool,
    enriched_request_body: String,
}

/// A pipeline that may begin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Confirmed {
    pub(super) workspace: Folder,
    /// The workspace as it was named, with its final slug.
    pub(super) shown: String,
    pub(super) spec_name: String,
    pub(super) effort: Effort,
    /// The ids of the phases that the flow leaves out, in the order they would come.
    pub(super) skipped: Vec<String>,
    /// Empty where none is known.
    pub(super) branch: String,
    /// Whether the caller has to make the branch.
    pub(super) creates_branch: bool,
    pub(super) request: RequestFile,
    /// The variables of the run.
    pub(super) vars: Map<String, Value>,
}

impl Choice {
    /// Reads what a person chose; the error says what is wrong with it.
    pub(super) fn read(mut members: Map<String, Value>) -> Result<Self, Failure> {
        members.retain(|_, value| !value.is_null());
        serde_json::from_value(Value::Object(members)).map_err(|error| {
            let message = format!("argument `user_confirmation` cannot be read: {error}");
            Failure::new("argument_invalid", message, "")
        })
    }
}

/// Works out the pipeline. `root` is the project's, and `named` the workspace as it was named.
pub(super) fn confirm(
    root: &Folder,
    named: &str,
    context: &Context,
    choice: &Choice,
    workflow: &Workflow,
) -> Result<Confirmed, Failure> {
    let Some(effort) = Effort::find(&choice.effort) else {
        return Err(Failure::new("effort_unknown", wrong_effort(&choice.effort), ""));
    };
    let shown = refined(named, context, &choice.workspace_slug);
    check_path(&shown)?;
    let workspace = Folder::resolve(root.as_str(), &shown);
    let spec_name = spec_name(workspace.name()).to_owned();
    let enriched = choice.enriched_request_body.trim();
    let branch = if choice.use_current_branch {
        context.flags.current_branch.clone()
    } else {
        let text = format!("{}\n{}", context.all_text(enriched), context.external.kinds.join("\n"));
        branch_name(&spec_name, &text)
    };
    let request = request(context, enriched);
    let skipped = flow::skipped(workflow, effort).into_iter().map(|it| it.phase_id).collect();
    Ok(Confirmed {
        vars: vars(context, effort, choice.use_current_branch, &branch, &request),
        creates_branch: !choice.use_current_branch,
        workspace,
        shown,
        spec_name,
        effort,
        skipped,
        branch,
        request,
    })
}

/// Puts a slug that says more in the place of the one that the workspace is named with.
fn refined(named: &str, context: &Context, slug: &str) -> String {
    let named = named.trim().trim_end_matches('/');
    let (folder, mut name) = match named.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name.to_owned()),
        None => (String::new(), named.to_owned()),
    };
    let mut refine = |text: &str, join: &str| {
        let joined = if context.id.is_empty() {
            text.to_owned()
        } else {
            [&context.id, join, text].concat()
        };
        let slug = slugify(&joined);
        if !text.is_empty() && !slug.is_empty() {
            name = with_slug(&name, &slug);
        }
    };
    refine(&context.external.title, " ");
    refine(slug, "-");
    format!("{folder}{name}")
}

fn check_path(path: &str) -> Result<(), Failure> {
    if path.is_empty() {
        let hint = "pass on the `workspace` that `pipeline_init` answered";
        return Err(Failure::new("workspace_invalid", "argument `workspace` is empty", hint));
    }
    if !path.is_ascii() || path.bytes().any(|it| it.is_ascii_control()) {
        let message = format!("workspace `{path}` has non-ASCII or control characters in it");
        let hint = "pass a `workspace_slug` of ASCII letters, or another `workspace`";
        return Err(Failure::new("workspace_invalid", message, hint));
    }
    Ok(())
}

/// Where the issue itself was fetched it is the request; else the words that were agreed to are.
fn request(context: &Context, enriched: &str) -> RequestFile {
    let has_issue = !context.external.is_empty();
    let body = if has_issue { context.external.text() } else { context.body(enriched) };
    let is_known = has_issue || !context.url.is_empty();
    let source_type = context.tracker.filter(|_| is_known).map_or(TEXT, Tracker::source_type);
    RequestFile {
        source_type: source_type.to_owned(),
        source_url: context.url.clone(),
        source_id: context.issue_id(),
        body: body.trim().to_owned(),
    }
}

fn vars(
    context: &Context,
    effort: Effort,
    use_current_branch: bool,
    branch: &str,
    request: &RequestFile,
) -> Map<String, Value> {
    let flags = &context.flags;
    let vars = json!({
        "effort": effort.as_str(),
        "auto_approve": flags.auto,
        "skip_pr": flags.skip_pr,
        "debug": flags.debug,
        "branch": branch,
        "use_current_branch": use_current_branch,
        "source_type": request.source_type,
        "source_url": request.source_url,
        "source_id": request.source_id,
    });
    let mut vars = vars.as_object().cloned().unwrap_or_default();
    flags.extent.add_to(&mut vars);
    vars
}
