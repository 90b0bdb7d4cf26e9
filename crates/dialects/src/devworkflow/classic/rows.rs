//! The classic tools, a row each: how it is called, which move of the workflow it is, what it says,
//! and which calls usually follow. The engine has the last word on those (`advice.rs`).

use super::row::{
    APPROVAL, Advice, Guidance, ITEM, Kind, Param, Row, TASK, TASK_PARAM, detail, needed, optional,
    path,
};
use crate::kit::Hints;

/// Introduces a call that is only in order after the one before it.
pub(crate) const LATER: &str = "after that, when the plan is done";

const BEGUN: &[Advice] = &[("when the configuration is there", Guidance::Analyze, &[])];
const PLANNED: &[Advice] = &[
    ("[managed approved] when the plan is written", Guidance::Update, PLAN),
    (
        "[managed !approved !waiting] when the plan is written, before you show it",
        Guidance::Update,
        PLAN,
    ),
    ("[approved] when the plan is in place, without waiting", Guidance::Construct, &[]),
    ("[!approved] when the user has approved the plan", Guidance::Construct, &[(APPROVAL, "true")]),
    (
        "[!approved] when the user wants changes",
        Guidance::Revise,
        &[("feedback", "<what the user wants changed, word for word>")],
    ),
];
const PLAN: &[(&str, &str)] = &[("plan", "<the whole plan, in Markdown>")];

/// What most tools are: they make a move, and where the run is decides what follows.
const PLAIN: Row = Row {
    tool: Guidance::Hello,
    name: "",
    title: "",
    description: "",
    hints: Hints::ADDS,
    params: &[],
    makes: "",
    takes_task: false,
    text: "",
    then: Some(&[]),
};

/// All of them, in the order they are listed.
pub(crate) const ROWS: [Row; 19] = [
    Row {
        tool: Guidance::Init,
        name: "init_workflow_guidance",
        title: "Take up a task",
        description: "Take up a task: it becomes the item at hand, or is added to the items while another is under way.",
        params: &[TASK_PARAM],
        makes: "init",
        takes_task: true,
        text: include_str!("../text/init.md"),
        then: Some(BEGUN),
        ..PLAIN
    },
    Row {
        tool: Guidance::Analyze,
        name: "analyze_phase_guidance",
        title: "Begin ANALYZE",
        description: "Begin ANALYZE for a task: read and understand; no code, no plan.",
        params: &[TASK_PARAM, path("The file with the project's commands")],
        makes: "analyze",
        takes_task: true,
        text: include_str!("../text/analyze.md"),
        then: Some(&[
            (
                "when the summary is written",
                Guidance::Blueprint,
                &[("requirements_summary", "<the requirements summary>")],
            ),
            (
                "[managed] if you must stop before that",
                Guidance::Update,
                &[("status", "READY"), ("log_entry", "<what is known so far, and what is not>")],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Blueprint,
        name: "blueprint_phase_guidance",
        title: "Begin BLUEPRINT",
        description: "Begin BLUEPRINT: plan in small steps, record the plan, have the user approve it.",
        params: &[
            TASK_PARAM,
            detail("requirements_summary", "What ANALYZE found out", "Requirements summary"),
        ],
        makes: "blueprint",
        takes_task: true,
        text: include_str!("../text/blueprint.md"),
        then: Some(PLANNED),
        ..PLAIN
    },
    Row {
        tool: Guidance::Construct,
        name: "construct_phase_guidance",
        title: "Begin CONSTRUCT",
        description: "Begin or go on with CONSTRUCT. Needs a recorded plan that the user approved.",
        params: &[
            TASK_PARAM,
            Param {
                name: APPROVAL,
                about: "The user approved the recorded plan. Never pass true without having asked them",
                kind: Kind::Flag,
                label: "",
            },
        ],
        makes: "construct",
        takes_task: true,
        text: include_str!("../text/construct.md"),
        then: Some(&[
            (
                "[managed] after each step (status `READY` after the last one)",
                Guidance::Update,
                &[("status", "RUNNING"), ("log_entry", "<the log entry of this step>")],
            ),
            ("when every step is done and green", Guidance::Validate, &[]),
            (
                "when a step has failed three times, or the plan turns out wrong",
                Guidance::ErrorRecovery,
                &[("error_details", "<step, command, output, what was tried>")],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Validate,
        name: "validate_phase_guidance",
        title: "Begin VALIDATE",
        description: "Begin VALIDATE: run everything again and check each requirement.",
        params: &[TASK_PARAM],
        makes: "validate",
        takes_task: true,
        text: include_str!("../text/validate.md"),
        then: Some(&[
            (
                "[managed] when the report is written",
                Guidance::Update,
                &[("status", "RUNNING"), ("log_entry", "<the validation report>")],
            ),
            (
                "when the verdict is PASS",
                Guidance::Complete,
                &[("summary", "<one sentence for the changelog>")],
            ),
            (
                "when the verdict is FAIL",
                Guidance::FixValidation,
                &[("issues", "<each FAIL, with its command and output>")],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Revise,
        name: "revise_blueprint_guidance",
        title: "Revise the plan",
        description: "Send the plan back with what the user wants changed. A given approval is void.",
        params: &[TASK_PARAM, detail("feedback", "What the user wants changed", "Feedback")],
        makes: "revise",
        takes_task: true,
        text: include_str!("../text/revise.md"),
        then: Some(PLANNED),
        ..PLAIN
    },
    Row {
        tool: Guidance::Complete,
        name: "complete_workflow_guidance",
        title: "Complete the item",
        description: "Complete the item at hand after VALIDATE. Writes the changelog and moves on to the next pending item.",
        params: &[
            TASK_PARAM,
            optional(
                "summary",
                "One sentence for the changelog, past tense; without it the task itself",
            ),
        ],
        makes: "complete",
        takes_task: true,
        text: include_str!("../text/complete.md"),
        then: Some(&[
            ("[managed pending] now", Guidance::Iterate, &[]),
            ("[managed !pending] now", Guidance::Finalize, &[]),
            ("[advisory] when a row is pending", Guidance::Iterate, &[]),
            ("[advisory] when no row is pending", Guidance::Finalize, &[]),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Iterate,
        name: "iterate_next_item_guidance",
        title: "Take the next item",
        description: "Take the next pending item, if the rules have not done so already.",
        makes: "iterate",
        text: include_str!("../text/iterate.md"),
        then: Some(&[
            ("[managed pending] now", Guidance::Analyze, &[]),
            ("[managed !pending] now", Guidance::Finalize, &[]),
            ("[advisory] when a row is pending", Guidance::Analyze, &[]),
            ("[advisory] when no row is pending", Guidance::Finalize, &[]),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Finalize,
        name: "finalize_workflow_guidance",
        title: "Finalize",
        description: "End the work once no item is pending; back to INIT.",
        makes: "finalize",
        text: include_str!("../text/finalize.md"),
        then: None,
        ..PLAIN
    },
    Row {
        tool: Guidance::ErrorRecovery,
        name: "error_recovery_guidance",
        title: "Recover from an error",
        description: "Record an error and learn how to go on: simple, complex or critical.",
        params: &[
            TASK_PARAM,
            detail(
                "error_details",
                "What went wrong, with the output that shows it",
                "Error details",
            ),
        ],
        makes: "error",
        text: include_str!("../text/error_recovery.md"),
        then: Some(&[
            ("[managed] if it is simple or complex", Guidance::Analyze, &[]),
            (
                "[managed] if it is simple or complex",
                Guidance::Revise,
                &[("feedback", "{detail}<the error: command, output, what was tried>")],
            ),
            ("[!analyze !revise] if it is simple", Guidance::Construct, &[]),
            (
                "[!analyze !revise] if it is complex",
                Guidance::Blueprint,
                &[("requirements_summary", "{detail}<the error: command, output, what was tried>")],
            ),
            (
                "if it is critical",
                Guidance::Escalate,
                &[("error_details", "{detail}<the error: command, output, what was tried>")],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::FixValidation,
        name: "fix_validation_issues_guidance",
        title: "Fix what validation found",
        description: "Record what VALIDATE found and learn how to fix it.",
        params: &[TASK_PARAM, detail("issues", "What validation found", "Issues")],
        makes: "fix",
        text: include_str!("../text/fix_validation.md"),
        then: Some(&[
            (
                "[managed] after each fixed issue",
                Guidance::Update,
                &[("log_entry", "<issue, cause, fix, command, output>")],
            ),
            ("when all issues are fixed", Guidance::Validate, &[]),
            ("[managed] when all issues are fixed", Guidance::Analyze, &[]),
            (
                "[managed] when all issues are fixed",
                Guidance::Revise,
                &[("feedback", "{detail}<the issues, and how they were fixed>")],
            ),
            (
                "[managed !validate] when all issues are fixed, to finish the plan",
                Guidance::Construct,
                &[],
            ),
            (LATER, Guidance::Validate, &[]),
            (
                "when an issue is still there after three attempts",
                Guidance::ErrorRecovery,
                &[("error_details", "<the issue, its output, the three attempts>")],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Escalate,
        name: "escalate_to_user_guidance",
        title: "Ask the user",
        description: "Record a problem that only the user can decide, and wait for them.",
        params: &[
            TASK_PARAM,
            detail(
                "error_details",
                "What was tried, what went wrong, what is needed",
                "Error details",
            ),
        ],
        makes: "escalate",
        text: include_str!("../text/escalate.md"),
        then: Some(&[
            ("[managed] when the user says to try again", Guidance::Analyze, &[]),
            (
                "[managed] when the user has answered",
                Guidance::Revise,
                &[("feedback", "<what the user said, word for word>")],
            ),
            ("[!analyze !revise] when the user says to try again", Guidance::Construct, &[]),
            (
                "[!analyze !revise] when the user wants another plan",
                Guidance::Blueprint,
                &[("requirements_summary", "{detail}<the error, and what the user decided>")],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Changelog,
        name: "changelog_update_guidance",
        title: "Update the changelog",
        description: "Put one sentence first under `## Changelog` of the project configuration.",
        params: &[
            needed(TASK, "What was done"),
            path("The file with the changelog"),
            optional("summary", "The sentence: past tense, what users notice"),
        ],
        makes: "changelog",
        text: include_str!("../text/changelog.md"),
        then: Some(&[(
            "[managed !changelog] when the sentence is written",
            Guidance::Changelog,
            &[("summary", "<one sentence, past tense>")],
        )]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Update,
        name: "update_workflow_state_guidance",
        title: "Update the state",
        description: "Record progress: set phase and status, the plan, the item at hand; add a log entry. NEEDS_PLAN_APPROVAL puts the plan before the user.",
        params: &[
            needed("phase", "INIT, ANALYZE, BLUEPRINT, CONSTRUCT or VALIDATE"),
            needed("status", "READY, RUNNING, `NEEDS_PLAN_APPROVAL`, COMPLETED or ERROR"),
            Param {
                name: ITEM,
                about: "The item at hand; null clears it, left out it stays",
                kind: Kind::Clearable,
                label: "",
            },
            optional("log_entry", "What to add to the log"),
            optional("plan", "The whole plan, as Markdown"),
        ],
        makes: "update",
        text: include_str!("../text/update.md"),
        ..PLAIN
    },
    Row {
        tool: Guidance::CreateState,
        name: "create_workflow_state_file_guidance",
        title: "Create the state file",
        description: "Makes `workflow_state.md` from the template with the first task. Refused if it is there.",
        params: &[TASK_PARAM],
        takes_task: true,
        text: include_str!("../text/create_state.md"),
        then: Some(BEGUN),
        ..PLAIN
    },
    Row {
        tool: Guidance::CheckConfig,
        name: "check_project_config_guidance",
        title: "Check the project configuration",
        description: "Checks that `project_config.md` is there and has its sections.",
        hints: Hints::READS,
        text: include_str!("../text/check_config.md"),
        then: Some(&[
            ("[issues] when the file or a section is missing", Guidance::CreateConfig, &[]),
            ("[advisory] when the file or a section is missing", Guidance::CreateConfig, &[]),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::CreateConfig,
        name: "create_project_config_guidance",
        title: "Create the project configuration",
        description: "Makes `project_config.md` from the template, unless it is there.",
        text: include_str!("../text/create_config.md"),
        ..PLAIN
    },
    Row {
        tool: Guidance::ValidateFiles,
        name: "validate_workflow_files_guidance",
        title: "Validate the files",
        description: "Checks `workflow_state.md` and `project_config.md`; changes nothing.",
        hints: Hints::READS,
        text: include_str!("../text/validate_files.md"),
        then: Some(&[
            (
                "[managed issues !state] when `workflow_state.md` does not exist",
                Guidance::CreateState,
                &[],
            ),
            (
                "[managed config] when `project_config.md` does not exist or lacks a section",
                Guidance::CreateConfig,
                &[],
            ),
            ("[advisory] when `workflow_state.md` is missing", Guidance::CreateState, &[]),
            (
                "[advisory] when `project_config.md` is missing or lacks a section",
                Guidance::CreateConfig,
                &[],
            ),
        ]),
        ..PLAIN
    },
    Row {
        tool: Guidance::Hello,
        name: "hello_workflow",
        title: "Hello",
        description: "Greets, and says where the work is and which call comes next.",
        hints: Hints::READS,
        text: include_str!("../text/hello.md"),
        ..PLAIN
    },
];
