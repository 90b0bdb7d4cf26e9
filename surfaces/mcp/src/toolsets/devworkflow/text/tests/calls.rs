//! Which calls each answer names as next. That the engine accepts them is shown in `classic/tests.rs`.

use super::{
    super::{Guidance, Told, answer},
    fixture::{Fixture, led_to, told},
};

const UPDATE: &str = "update_workflow_state_guidance";

/// Returns the names of the tools that an answer names as next.
pub(super) fn next(told: &Told<'_>) -> Vec<&'static str> {
    answer(told).1.iter().map(|it| it.tool).collect()
}

#[test]
fn the_server_names_the_next_call_of_each_tool() {
    let fixture = Fixture::new();
    let build = vec![UPDATE, "validate_phase_guidance", "error_recovery_guidance"];
    let plan = vec![UPDATE, "construct_phase_guidance", "revise_blueprint_guidance"];
    for (tool, wanted) in [
        (Guidance::Init, vec!["analyze_phase_guidance"]),
        (Guidance::Analyze, vec!["blueprint_phase_guidance", UPDATE]),
        (Guidance::Blueprint, plan.clone()),
        (Guidance::Construct, build.clone()),
        (
            Guidance::Validate,
            vec![UPDATE, "complete_workflow_guidance", "fix_validation_issues_guidance"],
        ),
        (Guidance::Revise, plan),
        (Guidance::Complete, vec!["iterate_next_item_guidance"]),
        (Guidance::Iterate, vec!["analyze_phase_guidance"]),
        (Guidance::Finalize, vec![]),
        (
            Guidance::ErrorRecovery,
            vec![
                "construct_phase_guidance",
                "blueprint_phase_guidance",
                "escalate_to_user_guidance",
            ],
        ),
        (
            Guidance::FixValidation,
            vec![UPDATE, "validate_phase_guidance", "error_recovery_guidance"],
        ),
        (Guidance::Escalate, vec!["construct_phase_guidance", "blueprint_phase_guidance"]),
        (Guidance::Changelog, vec!["changelog_update_guidance"]),
        (Guidance::Update, build.clone()),
        (Guidance::CreateState, vec!["analyze_phase_guidance"]),
        (Guidance::CheckConfig, build.clone()),
        (Guidance::CreateConfig, build.clone()),
        (Guidance::ValidateFiles, build.clone()),
        (Guidance::Hello, build),
    ] {
        let (phase, status) = led_to(tool);
        let shown = fixture.shown(phase, status);
        assert_eq!(next(&told(tool, Some(&shown))), wanted, "{tool:?}");
    }
}

#[test]
fn an_agent_that_keeps_the_file_is_told_the_next_call_too() {
    for (tool, wanted) in [
        (Guidance::Init, vec!["analyze_phase_guidance"]),
        (Guidance::Analyze, vec!["blueprint_phase_guidance"]),
        (Guidance::Blueprint, vec!["construct_phase_guidance", "revise_blueprint_guidance"]),
        (Guidance::Construct, vec!["validate_phase_guidance", "error_recovery_guidance"]),
        (Guidance::Validate, vec!["complete_workflow_guidance", "fix_validation_issues_guidance"]),
        (Guidance::Revise, vec!["construct_phase_guidance", "revise_blueprint_guidance"]),
        (Guidance::Complete, vec!["iterate_next_item_guidance", "finalize_workflow_guidance"]),
        (Guidance::Iterate, vec!["analyze_phase_guidance", "finalize_workflow_guidance"]),
        (Guidance::Finalize, vec![]),
        (
            Guidance::ErrorRecovery,
            vec![
                "construct_phase_guidance",
                "blueprint_phase_guidance",
                "escalate_to_user_guidance",
            ],
        ),
        (Guidance::FixValidation, vec!["validate_phase_guidance", "error_recovery_guidance"]),
        (Guidance::Escalate, vec!["construct_phase_guidance", "blueprint_phase_guidance"]),
        (Guidance::Changelog, vec![]),
        (Guidance::Update, vec![]),
        (Guidance::CreateState, vec!["analyze_phase_guidance"]),
        (Guidance::CheckConfig, vec!["create_project_config_guidance"]),
        (Guidance::CreateConfig, vec![]),
        (
            Guidance::ValidateFiles,
            vec!["create_workflow_state_file_guidance", "create_project_config_guidance"],
        ),
        (Guidance::Hello, vec![]),
    ] {
        assert_eq!(next(&told(tool, None)), wanted, "{tool:?}");
    }
}

#[test]
fn each_state_has_its_way_on() {
    let mut fixture = Fixture::new();
    let way = |fixture: &Fixture, phase, status| {
        let shown = fixture.shown(phase, status);
        next(&told(Guidance::Update, Some(&shown))).join(" ")
    };
    for (phase, status, wanted) in [
        ("INIT", "READY", "analyze_phase_guidance"),
        ("ANALYZE", "READY", "analyze_phase_guidance blueprint_phase_guidance"),
        ("BLUEPRINT", "NEEDS_PLAN_APPROVAL", "construct_phase_guidance revise_blueprint_guidance"),
        ("BLUEPRINT", "ERROR", "revise_blueprint_guidance escalate_to_user_guidance"),
        ("ANALYZE", "ERROR", "analyze_phase_guidance escalate_to_user_guidance"),
        ("CONSTRUCT", "READY", "validate_phase_guidance"),
        ("VALIDATE", "COMPLETED", "iterate_next_item_guidance"),
        ("BANANA", "READY", "escalate_to_user_guidance"),
    ] {
        assert_eq!(way(&fixture, phase, status), wanted, "{phase} {status}");
    }
    fixture.items.clear();
    assert_eq!(way(&fixture, "VALIDATE", "COMPLETED"), "finalize_workflow_guidance");
}
