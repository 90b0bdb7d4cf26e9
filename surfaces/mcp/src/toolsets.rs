//! Every toolset there is. A toolset is a dialect: its words end at its folder.

use std::{collections::BTreeMap, sync::Arc};

use definition::{Form, Workflow};
use dialects::{
    core, devworkflow, forge, generation,
    kit::{self, Brief, Prompt, Words},
};
use engine::RunId;
use runtime::{ExecuteError, Runtime, View};
use serde_json::{Map, Value};

use crate::{
    sessions,
    tool::{Call, Calling, Entry},
};

pub use dialects::devworkflow::WorkflowFiles;
pub use dialects::generation::{StateFiles, WORKFLOW as SCENE_GENERATION, WORKSPACE};

/// What the configuration says of the dialects.
#[derive(Debug, Clone, Default)]
pub struct Dialects {
    pub devworkflow: sessions::Options,
    pub forge: Arc<forge::Options>,
}

impl Dialects {
    /// Returns what the runtime must know of these settings, so that they hold whichever tool, file
    /// or terminal a run is changed by.
    pub fn policies(&self) -> runtime::Policies {
        let named = BTreeMap::from([(devworkflow::WORKFLOW.to_owned(), self.devworkflow.policy())]);
        runtime::Policies { graphs: self.devworkflow.policy_of_graphs(), named }
    }
}

/// All toolsets. Which of them are served is a setting.
pub const TOOLSETS: &[Toolset] = &[
    Toolset::of(core::TOOLSET),
    Toolset::of(generation::TOOLSET),
    Toolset::of(devworkflow::TOOLSET),
    Toolset::of(forge::TOOLSET),
];

/// Tools that are served together.
#[derive(Debug, Clone, Copy)]
pub struct Toolset {
    pub name: &'static str,
    /// What it is for, in one line for people.
    pub summary: &'static str,
    /// What an agent is told before anything else.
    pub(crate) instructions: &'static str,
    pub(crate) tools: &'static [kit::Entry],
    /// What people can have done with these tools.
    pub(crate) prompts: &'static [Prompt],
    /// Returns the words for the runs of a workflow, where it is the toolset's own.
    pub(crate) words: fn(&str, Form) -> Option<&'static Words>,
}

impl Toolset {
    const fn of(dialect: kit::Toolset) -> Self {
        let kit::Toolset { name, summary, instructions, tools, prompts, words } = dialect;
        Self { name, summary, instructions, tools, prompts, words }
    }

    /// Returns the tools, in the order they are listed.
    pub fn tools(&self) -> Vec<Entry> {
        self.tools.iter().map(Entry::from).collect()
    }
}

/// The tools that are served. Built once: schemas are not made again at each call.
pub struct Tools {
    tools: Vec<(Entry, Value)>,
    prompts: Vec<Prompt>,
    instructions: String,
    toolsets: Vec<&'static Toolset>,
}

/// There is no such toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no toolset `{name}`; there are: {}", names())]
pub struct ToolsetUnknown {
    pub name: String,
}

impl Tools {
    /// Returns the tools of the toolsets with these names, in the order they are named.
    pub fn new(names: &[String]) -> Result<Self, ToolsetUnknown> {
        let mut tools: Vec<(Entry, Value)> = Vec::new();
        let mut prompts: Vec<Prompt> = Vec::new();
        let mut told: Vec<&str> = Vec::new();
        let mut toolsets: Vec<&'static Toolset> = Vec::new();
        for name in names {
            let Some(toolset) = TOOLSETS.iter().find(|it| it.name == name) else {
                return Err(ToolsetUnknown { name: name.clone() });
            };
            toolsets.push(toolset);
            if !told.contains(&toolset.instructions) {
                told.push(toolset.instructions);
            }
            for entry in toolset.tools() {
                if !tools.iter().any(|(known, _)| known.name == entry.name) {
                    tools.push((entry, (entry.shape)()));
                }
            }
            for prompt in toolset.prompts {
                if !prompts.iter().any(|known| known.name == prompt.name) {
                    prompts.push(*prompt);
                }
            }
        }
        Ok(Self { tools, prompts, instructions: told.join("\n\n"), toolsets })
    }

    /// Returns the tools, in the order they are listed.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.tools.iter().map(|(entry, _)| entry)
    }

    /// Returns what an agent is told before anything else.
    pub(crate) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Returns the prompts that come with the tools.
    pub(crate) fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// Returns the words for the runs of a workflow.
    pub(crate) fn words(&self, workflow: &Workflow) -> &'static Words {
        self.find_words(workflow.name.as_str(), workflow.form).unwrap_or(&core::WORDS)
    }

    /// Returns the words for the runs of a workflow. `None` where these tools do not fit it.
    pub(crate) fn find_words(&self, workflow: &str, form: Form) -> Option<&'static Words> {
        let own = self.toolsets.iter().find_map(|it| (it.words)(workflow, form));
        let is_any = self.toolsets.iter().any(|it| it.name == core::TOOLSET.name);
        own.or_else(|| is_any.then_some(&core::WORDS))
    }

    /// Calls the tool called `name`, if there is one.
    pub fn call<'a>(
        &'a self,
        name: &str,
        call: &'a Call<'a>,
        arguments: Map<String, Value>,
    ) -> Option<Calling<'a>> {
        let (entry, shape) = self.tools.iter().find(|(entry, _)| entry.name == name)?;
        Some(entry.run(call, arguments, shape))
    }
}

/// Returns the words for the runs of a workflow where it is not known which tools there are, but
/// which are usual. A dialect's own workflow needs its tools; a graph does not.
pub fn find_words(workflow: &Workflow, usual: &[String]) -> &'static Words {
    let is_usual = |it: &Toolset| usual.iter().any(|name| name == it.name);
    let mut toolsets = TOOLSETS.iter().filter(|it| workflow.form != Form::Graph || is_usual(it));
    let name = workflow.name.as_str();
    toolsets.find_map(|it| (it.words)(name, workflow.form)).unwrap_or(&core::WORDS)
}

/// Returns the brief of a run, in words that fit its workflow, and what changed behind its back.
pub async fn brief(
    runtime: &Runtime,
    run: RunId,
    tokens_max: Option<usize>,
    words: impl Fn(&Workflow) -> &'static Words + Send,
) -> Result<(View, Brief, Vec<String>), ExecuteError> {
    let view = runtime.view(run, None).await?;
    let (brief, drift) = brief_of(runtime, &view, tokens_max, words(&view.workflow)).await?;
    Ok((view, brief, drift))
}

/// The same for a run that is at hand.
pub(crate) async fn brief_of(
    runtime: &Runtime,
    view: &View,
    tokens_max: Option<usize>,
    words: &Words,
) -> Result<(Brief, Vec<String>), ExecuteError> {
    let (known, drift) = runtime.find_drift(view).await?;
    let tokens_max = tokens_max.unwrap_or(runtime.settings().brief_tokens);
    let home = runtime.home_of(view);
    let folder = home.strip_prefix(view.state.root()).map(|it| it.trim_start_matches('/'));
    let folder = folder.filter(|it| !it.is_empty());
    let around = kit::Around { known: &known, drift: &drift, folder };
    Ok((kit::brief(words, view, around, tokens_max), drift))
}

fn names() -> String {
    let names: Vec<String> = TOOLSETS.iter().map(|it| format!("`{}`", it.name)).collect();
    names.join(", ")
}

#[cfg(test)]
#[path = "../../../crates/engine/tests/support/refusals.rs"]
mod refusals;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use definition::{Form, MemoryFiles, Workflow, WorkflowName, parse};
    use dialects::{core::WORDS, kit::Words};

    use super::{TOOLSETS, Tools, Toolset, find_words, refusals};

    fn workflow(name: &str, form: Form) -> Workflow {
        let step = "# Orchestrator Guidance\nx\n# Client Instructions\nx\n".to_owned();
        let index = "# Goal\nx\n- [a](steps/a.md)\n".to_owned();
        let files = [(format!("{name}/index.md"), index), (format!("{name}/steps/a.md"), step)];
        let files = MemoryFiles(BTreeMap::from(files));
        let name = WorkflowName::parse(name).unwrap();
        let mut workflow = parse(&name, &files).unwrap();
        workflow.form = form;
        workflow
    }

    /// Everything that a dialect says of what can be done next.
    fn phrases(words: &Words) -> Vec<String> {
        let Words { start, resume, report, choose, finish, relay, wait, reopen, more, .. } = *words;
        let fixed = [start, resume, report, choose, finish, relay, wait, reopen, more];
        let hints = refusals::one_of_each().into_iter().map(|it| words.hint(&it));
        fixed.map(ToOwned::to_owned).into_iter().chain(hints).collect()
    }

    fn has(toolset: &Toolset, tool: &str) -> bool {
        toolset.tools().iter().any(|it| it.name == tool)
    }

    #[test]
    fn every_dialect_speaks_of_its_own_tools() {
        let spoken = [
            ("core", "x", Form::Folder),
            ("generation", "scene-generation", Form::Folder),
            ("devworkflow", "dev-workflow", Form::Folder),
            ("devworkflow", "x", Form::Graph),
            ("forge", "forge", Form::Folder),
        ];
        for (toolset, name, form) in spoken {
            let workflow = workflow(name, form);
            let words = Tools::new(&[toolset.to_owned()]).unwrap().words(&workflow);
            assert!(std::ptr::eq(find_words(&workflow, &[toolset.to_owned()]), words));
            let toolset = TOOLSETS.iter().find(|it| it.name == toolset).unwrap();
            let phrases = phrases(words);
            let named = phrases.iter().flat_map(|it| it.split('`').skip(1).step_by(2));
            // An operation of `workflow_state` is called like a tool of forge.
            let is_tool = |word: &&str| *word != "get" && TOOLSETS.iter().any(|it| has(it, word));
            let tools: Vec<&str> = named.filter(is_tool).collect();
            for phrase in &phrases {
                assert!(!phrase.ends_with('.'), "`{phrase}` ends with a full stop");
                assert!(
                    !phrase.starts_with(char::is_uppercase),
                    "`{phrase}` begins with a capital"
                );
            }
            assert!(!tools.is_empty() && tools.iter().all(|it| has(toolset, it)), "{tools:?}");
        }
    }

    #[test]
    fn a_graph_is_gone_through_with_the_tools_that_are_usual() {
        let graph = workflow("x", Form::Graph);
        assert!(std::ptr::eq(find_words(&graph, &["core".to_owned()]), &WORDS));
        let forge = workflow("forge", Form::Folder);
        assert!(!std::ptr::eq(find_words(&forge, &["core".to_owned()]), &WORDS));
    }
}
