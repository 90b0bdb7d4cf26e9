//! The names and files that the scenarios are about.

use serde_json::{Value, json};

use crate::project::Project;

/// The agents that have a prompt.
pub(crate) const AGENTS: [&str; 11] = [
    "situation-analyst",
    "situation-analyst-investigator",
    "investigator",
    "architect",
    "design-reviewer",
    "task-decomposer",
    "task-reviewer",
    "implementer",
    "impl-reviewer",
    "comprehensive-reviewer",
    "verifier",
];

/// The tools, the inputs that each requires, and whether it only reads.
pub(crate) const TOOLS: [(&str, &[&str], bool); 47] = [
    ("init", &["workspace", "spec_name", "validated"], false),
    ("get", &["workspace", "field"], true),
    ("phase_start", &["workspace", "phase"], false),
    ("phase_complete", &["workspace", "phase"], false),
    ("phase_fail", &["workspace", "phase"], false),
    ("checkpoint", &["workspace", "phase"], false),
    ("abandon", &["workspace"], false),
    ("skip_phase", &["workspace", "phase"], false),
    ("task_init", &["workspace", "tasks"], false),
    ("task_update", &["workspace", "task_num", "field", "value"], false),
    ("revision_bump", &["workspace", "rev_type"], false),
    ("inline_revision_bump", &["workspace", "rev_type"], false),
    ("set_branch", &["workspace", "branch"], false),
    ("set_effort", &["workspace", "effort"], false),
    ("set_flow_template", &["workspace", "flow_template"], false),
    ("set_auto_approve", &["workspace"], false),
    ("set_skip_pr", &["workspace"], false),
    ("set_debug", &["workspace"], false),
    ("set_use_current_branch", &["workspace", "branch"], false),
    ("set_revision_pending", &["workspace", "checkpoint"], false),
    ("clear_revision_pending", &["workspace", "checkpoint"], false),
    ("phase_log", &["workspace", "phase"], false),
    ("phase_stats", &["workspace"], true),
    ("resume_info", &["workspace"], true),
    ("refresh_index", &["workspace"], false),
    ("pipeline_init", &["arguments"], true),
    ("pipeline_init_with_context", &["workspace"], false),
    ("pipeline_next_action", &["workspace"], false),
    ("pipeline_report_result", &["workspace", "phase"], false),
    ("validate_input", &[], true),
    ("validate_artifact", &["workspace", "phase"], true),
    ("__IMPORTANT", &[], true),
    ("subscribe_events", &[], true),
    ("preferences_get", &[], true),
    ("preferences_set", &["preferences"], false),
    ("search_patterns", &["workspace"], true),
    ("history_search", &["query"], true),
    ("history_get_patterns", &[], true),
    ("history_get_friction_map", &[], true),
    ("analytics_pipeline_summary", &["workspace"], true),
    ("analytics_repo_dashboard", &[], true),
    ("analytics_estimate", &["effort"], true),
    ("profile_get", &[], true),
    ("ast_summary", &["file_path"], true),
    ("ast_find_definition", &["file_path", "symbol"], true),
    ("dependency_graph", &["root_path", "language"], true),
    ("impact_scope", &["root_path", "file_path", "symbol_name", "language"], true),
];

/// The phases in the order in which they come.
pub(crate) const PHASES: [&str; 18] = [
    "setup",
    "phase-1",
    "phase-2",
    "phase-3",
    "phase-3b",
    "checkpoint-a",
    "phase-4",
    "phase-4b",
    "checkpoint-b",
    "phase-5",
    "phase-6",
    "phase-7",
    "final-verification",
    "pr-creation",
    "final-summary",
    "post-to-source",
    "final-commit",
    "completed",
];

/// What a past run left behind.
pub(crate) struct Past {
    pub(crate) folder: &'static str,
    pub(crate) name: &'static str,
    pub(crate) effort: &'static str,
    pub(crate) tokens: u64,
    pub(crate) duration_ms: u64,
}

impl Past {
    /// Returns its state file, as one that ended well.
    pub(crate) fn state(&self) -> Value {
        let template = if self.effort == "S" { "light" } else { "standard" };
        json!({
            "version": 2, "specName": self.name, "workspace": format!(".specs/{}", self.folder),
            "branch": null, "effort": self.effort, "flowTemplate": template, "autoApprove": false,
            "skipPr": true, "useCurrentBranch": true, "branchClassified": true,
            "branchPushed": false, "debug": false, "skippedPhases": [],
            "currentPhase": "completed", "currentPhaseStatus": "completed",
            "completedPhases": ["setup", "phase-1", "final-commit"],
            "revisions": {
                "designRevisions": 0, "taskRevisions": 0,
                "designInlineRevisions": 0, "taskInlineRevisions": 0,
            },
            "checkpointRevisionPending": {"checkpoint-a": false, "checkpoint-b": false},
            "needsBatchCommit": false, "tasks": {},
            "phaseLog": [{
                "phase": "phase-1", "tokens": self.tokens, "duration_ms": self.duration_ms,
                "model": "sonnet", "timestamp": "2026-01-02T10:00:00Z",
            }],
            "timestamps": {
                "created": "2026-01-02T09:00:00Z", "lastUpdated": "2026-01-02T11:00:00Z",
                "phaseStarted": null,
            },
            "error": null,
        })
    }
}

/// Writes a run into the specs, as one that was there before us.
pub(crate) fn leave(project: &Project, folder: &str, state: &Value, request: &str) {
    let text = serde_json::to_string_pretty(state).unwrap();
    project.write(&format!(".specs/{folder}/state.json"), &text);
    let request = format!("---\nsource_type: text\n---\n\n{request}\n");
    project.write(&format!(".specs/{folder}/request.md"), &request);
}
