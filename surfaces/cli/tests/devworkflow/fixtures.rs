//! What the tests start from: a project's configuration, the two small graphs, and the tools.

pub(crate) const PHASES: [&str; 5] = ["INIT", "ANALYZE", "BLUEPRINT", "CONSTRUCT", "VALIDATE"];

/// A configuration with the sections that are required, and two older lines in the changelog.
pub(crate) const CONFIG: &str = "\
# Project configuration

## Project Info
A shop.

## Dependencies
None.

## Test Commands
```bash
# all of them
cargo test
cargo clippy
```

## Changelog
- Opened the shop.
- Drew the sign.
";

pub(crate) const INIT: &str = "init_workflow_guidance";
pub(crate) const ANALYZE: &str = "analyze_phase_guidance";
pub(crate) const BLUEPRINT: &str = "blueprint_phase_guidance";
pub(crate) const CONSTRUCT: &str = "construct_phase_guidance";
pub(crate) const VALIDATE: &str = "validate_phase_guidance";
pub(crate) const REVISE: &str = "revise_blueprint_guidance";
pub(crate) const COMPLETE: &str = "complete_workflow_guidance";
pub(crate) const ITERATE: &str = "iterate_next_item_guidance";
pub(crate) const FINALIZE: &str = "finalize_workflow_guidance";
pub(crate) const ERROR: &str = "error_recovery_guidance";
pub(crate) const FIX: &str = "fix_validation_issues_guidance";
pub(crate) const ESCALATE: &str = "escalate_to_user_guidance";
pub(crate) const CHANGELOG: &str = "changelog_update_guidance";
pub(crate) const UPDATE: &str = "update_workflow_state_guidance";
pub(crate) const CREATE_STATE: &str = "create_workflow_state_file_guidance";
pub(crate) const CHECK_CONFIG: &str = "check_project_config_guidance";
pub(crate) const CREATE_CONFIG: &str = "create_project_config_guidance";
pub(crate) const CHECK_FILES: &str = "validate_workflow_files_guidance";
pub(crate) const HELLO: &str = "hello_workflow";

/// Every tool, with the inputs it requires and those it may have.
pub(crate) const TOOLS: [(&str, &[&str], &[&str]); 25] = [
    (INIT, &["task_description"], &[]),
    (ANALYZE, &["task_description"], &["project_config_path"]),
    (BLUEPRINT, &["task_description", "requirements_summary"], &[]),
    (CONSTRUCT, &["task_description"], &["user_approval"]),
    (VALIDATE, &["task_description"], &[]),
    (REVISE, &["task_description", "feedback"], &[]),
    (COMPLETE, &["task_description"], &["summary"]),
    (ITERATE, &[], &[]),
    (FINALIZE, &[], &[]),
    (ERROR, &["task_description", "error_details"], &[]),
    (FIX, &["task_description", "issues"], &[]),
    (ESCALATE, &["task_description", "error_details"], &[]),
    (CHANGELOG, &["task_description"], &["project_config_path", "summary"]),
    (UPDATE, &["phase", "status"], &["current_item", "log_entry", "plan"]),
    (CREATE_STATE, &["task_description"], &[]),
    (CHECK_CONFIG, &[], &[]),
    (CREATE_CONFIG, &[], &[]),
    (CHECK_FILES, &[], &[]),
    (HELLO, &[], &[]),
    ("workflow_guidance", &["task_description"], &["action", "context", "options", "session_id"]),
    ("workflow_state", &["operation"], &["updates", "session_id"]),
    ("workflow_discovery", &["task_description"], &["workflows_dir", "client_id"]),
    (
        "workflow_creation_guidance",
        &["task_description"],
        &["workflow_type", "complexity_level", "client_id"],
    ),
    ("workflow_cache_management", &["operation"], &["client_id"]),
    ("workflow_semantic_search", &["query"], &["client_id", "max_results", "min_similarity"]),
];

/// The workflow of the scenarios.
pub(crate) const TINY: &str = "\
name: Tiny
description: Two steps.
inputs:
  task_description: {type: string, description: What to do, required: true}
  n: {type: integer, description: A number}
  b: {type: boolean, description: A switch}
workflow:
  goal: Show how it goes.
  root: Alpha
  tree:
    Alpha:
      goal: Do ${{ inputs.task_description }} with n=${{inputs.n}} b=${{ inputs.b }} ${{ inputs.missing }}
      acceptance_criteria:
        c1: the first is done
        c2: the second is done for ${{ inputs.task_description }}
      next_allowed_nodes: [Beta]
      next_allowed_workflows: [Other]
      needs_approval: true
    Beta:
      goal: Rest after ${{ inputs.task_description }}
";

/// `Tiny` and `Other` where they are looked for.
pub(crate) const TINY_FILES: &str = "\
== .accordo/workflows/tiny.yaml
name: Tiny
description: Two steps.
inputs:
  task_description: {type: string, description: What to do, required: true}
  n: {type: integer, description: A number}
  b: {type: boolean, description: A switch}
workflow:
  goal: Show how it goes.
  root: Alpha
  tree:
    Alpha:
      goal: Do ${{ inputs.task_description }} with n=${{inputs.n}} b=${{ inputs.b }} ${{ inputs.missing }}
      acceptance_criteria:
        c1: the first is done
        c2: the second is done for ${{ inputs.task_description }}
      next_allowed_nodes: [Beta]
      next_allowed_workflows: [Other]
      needs_approval: true
    Beta:
      goal: Rest after ${{ inputs.task_description }}
== .accordo/workflows/other.yaml
name: Other
description: A side way.
workflow:
  goal: Look elsewhere.
  root: look
  tree:
    look:
      goal: Look elsewhere.
      next_allowed_nodes: [back]
    back:
      goal: Come back.
";

/// A workflow with a loop, a branch, criteria at its end, and no approvals.
pub(crate) const LOOP: &str = "\
name: Loop
description: There and back.
workflow:
  goal: Go round.
  root: write
  tree:
    write:
      goal: Write it.
      acceptance_criteria: {text: a text is there}
      next_allowed_nodes: [check]
    check:
      goal: Check it.
      next_allowed_nodes: [write, Done]
    Done:
      goal: Hand it over.
      acceptance_criteria: {handed: it was handed over}
";

/// Returns a workflow called `name` over `tree`, the lines of which are indented as given.
pub(crate) fn yaml(name: &str, root: &str, tree: &str) -> String {
    format!(
        "name: {name}\ndescription: made for a test\nworkflow:\n  goal: g\n  root: {root}\n  \
         tree:\n{tree}"
    )
}
