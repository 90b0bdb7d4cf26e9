//! `changelog_update_guidance`: a line for the changelog.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool, named};
use crate::toolsets::devworkflow::{
    answer::Failure, options::Settings as Options, text::Guidance, words::CONFIG_FILE,
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What was done
    task_description: String,
    /// The file with the changelog
    #[schemars(extend("x-default" = "project_config.md"))]
    project_config_path: Option<String>,
    /// The sentence: past tense, what users notice
    summary: Option<String>,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Changelog;
    const TITLE: &'static str = "Update the changelog";
    const DESCRIPTION: &'static str =
        "Put one sentence first under `## Changelog` of the project configuration.";

    fn ask(parameters: Parameters, options: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, project_config_path, summary } = parameters;
        let mut ask = Ask::new(task_description);
        ask.config_path = named(Self::TOOL, project_config_path, options)?;
        let path = Some(ask.config_path.clone()).filter(|it| !it.is_empty());
        let path = path.unwrap_or_else(|| CONFIG_FILE.to_owned());
        ask.args.insert("config_path".to_owned(), path.into());
        ask.args.insert("summary".to_owned(), summary.unwrap_or_default().trim().into());
        Ok(ask)
    }
}
