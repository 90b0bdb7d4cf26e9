//! The classic tools, by name.

/// A classic tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Guidance {
    Init,
    Analyze,
    Blueprint,
    Construct,
    Validate,
    Revise,
    Complete,
    Iterate,
    Finalize,
    ErrorRecovery,
    FixValidation,
    Escalate,
    Changelog,
    Update,
    CreateState,
    CheckConfig,
    CreateConfig,
    ValidateFiles,
    Hello,
}

impl Guidance {
    /// All of them, in the order they are listed.
    #[cfg(test)]
    pub(in super::super) const ALL: &'static [Self] = &[
        Self::Init,
        Self::Analyze,
        Self::Blueprint,
        Self::Construct,
        Self::Validate,
        Self::Revise,
        Self::Complete,
        Self::Iterate,
        Self::Finalize,
        Self::ErrorRecovery,
        Self::FixValidation,
        Self::Escalate,
        Self::Changelog,
        Self::Update,
        Self::CreateState,
        Self::CheckConfig,
        Self::CreateConfig,
        Self::ValidateFiles,
        Self::Hello,
    ];

    /// Returns the name of the tool.
    pub(in super::super) const fn name(self) -> &'static str {
        match self {
            Self::Init => "init_workflow_guidance",
            Self::Analyze => "analyze_phase_guidance",
            Self::Blueprint => "blueprint_phase_guidance",
            Self::Construct => "construct_phase_guidance",
            Self::Validate => "validate_phase_guidance",
            Self::Revise => "revise_blueprint_guidance",
            Self::Complete => "complete_workflow_guidance",
            Self::Iterate => "iterate_next_item_guidance",
            Self::Finalize => "finalize_workflow_guidance",
            Self::ErrorRecovery => "error_recovery_guidance",
            Self::FixValidation => "fix_validation_issues_guidance",
            Self::Escalate => "escalate_to_user_guidance",
            Self::Changelog => "changelog_update_guidance",
            Self::Update => "update_workflow_state_guidance",
            Self::CreateState => "create_workflow_state_file_guidance",
            Self::CheckConfig => "check_project_config_guidance",
            Self::CreateConfig => "create_project_config_guidance",
            Self::ValidateFiles => "validate_workflow_files_guidance",
            Self::Hello => "hello_workflow",
        }
    }

    /// Returns whether the tool works on a task, and so cannot do without one.
    pub(in super::super) fn takes_task(self) -> bool {
        matches!(
            self,
            Self::Init
                | Self::Analyze
                | Self::Blueprint
                | Self::Construct
                | Self::Validate
                | Self::Revise
                | Self::Complete
                | Self::CreateState
        )
    }

    /// Returns the text with its places unfilled.
    pub(super) fn template(self) -> &'static str {
        match self {
            Self::Init => include_str!("init.md"),
            Self::Analyze => include_str!("analyze.md"),
            Self::Blueprint => include_str!("blueprint.md"),
            Self::Construct => include_str!("construct.md"),
            Self::Validate => include_str!("validate.md"),
            Self::Revise => include_str!("revise.md"),
            Self::Complete => include_str!("complete.md"),
            Self::Iterate => include_str!("iterate.md"),
            Self::Finalize => include_str!("finalize.md"),
            Self::ErrorRecovery => include_str!("error_recovery.md"),
            Self::FixValidation => include_str!("fix_validation.md"),
            Self::Escalate => include_str!("escalate.md"),
            Self::Changelog => include_str!("changelog.md"),
            Self::Update => include_str!("update.md"),
            Self::CreateState => include_str!("create_state.md"),
            Self::CheckConfig => include_str!("check_config.md"),
            Self::CreateConfig => include_str!("create_config.md"),
            Self::ValidateFiles => include_str!("validate_files.md"),
            Self::Hello => include_str!("hello.md"),
        }
    }

    /// Returns what the detail of a call is, for the line above it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other tools show no detail")]
    pub(super) fn detail_label(self) -> Option<&'static str> {
        match self {
            Self::Blueprint => Some("Requirements summary"),
            Self::Revise => Some("Feedback"),
            Self::ErrorRecovery | Self::Escalate => Some("Error details"),
            Self::FixValidation => Some("Issues"),
            _ => None,
        }
    }
}
