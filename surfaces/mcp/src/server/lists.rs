//! Lists, and what is read from them, in the words of the protocol.

use std::{collections::BTreeMap, sync::Arc};

use rmcp::{
    ErrorData,
    model::{
        Annotations, CompletionInfo, GetPromptResult, JsonObject, MetaObject, Prompt,
        PromptArgument, PromptMessage, ReadResourceResult, Reference, Resource, ResourceContents,
        ResourceTemplate, Role, Tool, ToolAnnotations,
    },
};
use runtime::{ExecuteError, Runtime};
use serde_json::{Value, json};

use crate::{
    app,
    complete::{Field, complete},
    prompts::{self, PromptError},
    resources::{self, Address, ReadError, TEMPLATES, Template},
    tool::{Effect, Entry},
    toolsets::Tools,
};

/// How many prompts are listed on one page.
const PROMPTS_PAGE: usize = 100;

pub(super) fn tool(entry: &Entry) -> Tool {
    // The title stands beside the name, and need not be said twice.
    let hints = ToolAnnotations::new()
        .read_only(entry.hints.effect == Effect::Reads)
        .destructive(entry.hints.effect == Effect::Ends)
        .idempotent(entry.hints.is_idempotent)
        .open_world(entry.hints.reaches_out);
    let tool = Tool::new(entry.name, entry.description, entry.input_schema())
        .with_title(entry.title)
        .with_annotations(hints);
    let tool = match entry.output_schema() {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
        None => tool,
    };
    if app::TOOLS.contains(&entry.name) { tool.with_meta(meta(app::tool_meta())) } else { tool }
}

/// Returns a page of prompts, and where the next one begins.
pub(super) fn prompts(
    runtime: &Runtime,
    tools: &Tools,
    cursor: Option<&str>,
) -> Result<(Vec<Prompt>, Option<String>), ErrorData> {
    let all = prompts::list(runtime, tools);
    let begin = match cursor {
        None => 0,
        // The name that the page before ended with.
        Some(name) => match all.iter().position(|it| it.name == name) {
            Some(place) => place + 1,
            None => return Err(invalid_cursor()),
        },
    };
    let page: Vec<&prompts::Prompt> = all.iter().skip(begin).take(PROMPTS_PAGE).collect();
    let has_more = begin + page.len() < all.len();
    let next = page.last().filter(|_| has_more).map(|it| it.name.clone());
    Ok((page.into_iter().map(prompt).collect(), next))
}

fn prompt(prompt: &prompts::Prompt) -> Prompt {
    let argument = |it: &prompts::Argument| {
        PromptArgument::new(it.name.as_str())
            .with_description(it.description.as_str())
            .with_required(it.is_required)
    };
    let arguments: Vec<PromptArgument> = prompt.arguments.iter().map(argument).collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(prompt.name.as_str(), Some(prompt.description.as_str()), arguments)
        .with_title(prompt.title.as_str())
}

/// Returns what a prompt says.
pub(super) async fn read_prompt(
    runtime: &Runtime,
    tools: &Tools,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let text = |it: Value| it.as_str().map_or_else(|| it.to_string(), ToOwned::to_owned);
    let given: BTreeMap<String, String> =
        arguments.unwrap_or_default().into_iter().map(|(name, it)| (name, text(it))).collect();
    let said = prompts::get(runtime, tools, name, &given).await.map_err(|error| match error {
        PromptError::Wrong(problem) => ErrorData::invalid_params(problem, None),
        PromptError::Failed(error) => failed(&error),
    })?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, said)]))
}

/// Returns a page of resources, and where the next one begins.
pub(super) async fn resources(
    runtime: &Runtime,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), ErrorData> {
    let (items, next) = resources::list(runtime, cursor).await.map_err(|error| match error {
        ExecuteError::Refused(_) => invalid_cursor(),
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
            failed(&error)
        }
    })?;
    Ok((items.into_iter().map(resource).collect(), next))
}

fn resource(item: resources::Item) -> Resource {
    let mime = match item.address {
        Address::App => app::MIME,
        Address::HowTo | Address::Brief(_) | Address::Step { .. } => "text/markdown",
        Address::Run(_) | Address::History(_) | Address::Workflow(_) => "application/json",
        Address::Artifact { .. } => "text/plain",
    };
    let resource = Resource::new(item.address.uri(), item.name)
        .with_title(item.title)
        .with_description(item.description)
        .with_mime_type(mime);
    match item.changed_at.and_then(|it| annotations(&it)) {
        Some(annotations) => resource.with_annotations(annotations),
        None => resource,
    }
}

fn annotations(changed_at: &str) -> Option<Annotations> {
    serde_json::from_value(json!({ "lastModified": changed_at })).ok()
}

/// Returns every family of resources.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |it: &Template| {
        let template = ResourceTemplate::new(it.uri, it.name)
            .with_title(it.title)
            .with_description(it.description);
        match it.mime {
            Some(mime) => template.with_mime_type(mime),
            None => template,
        }
    };
    TEMPLATES.iter().map(template).collect()
}

/// Reads a resource.
pub(super) async fn read_resource(
    runtime: &Runtime,
    tools: &Tools,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let missing = |why: String| ErrorData::resource_not_found(why, Some(json!({ "uri": uri })));
    let Some(address) = Address::parse(uri) else {
        return Err(missing(format!("there is no resource `{uri}`")));
    };
    let content = resources::read(runtime, tools, &address).await.map_err(|error| match error {
        ReadError::Missing(why) => missing(why),
        ReadError::Failed(error) => failed(&error),
    })?;
    let contents = ResourceContents::text(content.text, uri).with_mime_type(content.mime);
    let contents = match content.meta {
        Some(it) => contents.with_meta(meta(it)),
        None => contents,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Completes what is being typed.
pub(super) async fn completions(
    runtime: &Runtime,
    reference: &Reference,
    name: &str,
    typed: &str,
    given: BTreeMap<String, String>,
) -> Result<CompletionInfo, ErrorData> {
    let field = match reference {
        Reference::Resource(template) => {
            Field::Resource { template: template.uri.as_str(), variable: name }
        }
        Reference::Prompt(prompt) => Field::Prompt { prompt: prompt.name.as_str(), argument: name },
        _ => return Err(ErrorData::invalid_params("`ref` is neither prompt nor resource", None)),
    };
    let mut values = match complete(runtime, &field, typed, &given).await {
        // What is typed beside it leads nowhere yet.
        Err(ExecuteError::Refused(_)) => Vec::new(),
        found => found.map_err(|error| failed(&error))?,
    };
    let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let has_more = CompletionInfo::MAX_VALUES < values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, Some(total), has_more)
        .map_err(|problem| ErrorData::internal_error(problem, None))
}

/// Makes an object of what is one.
pub(super) fn meta(value: Value) -> MetaObject {
    serde_json::from_value(value).unwrap_or_default()
}

/// Words a failure of ours.
pub(super) fn failed(error: &ExecuteError) -> ErrorData {
    let hint = error.hint();
    let data = json!({ "code": error.code(), "retryable": error.passes(), "hint": hint });
    ErrorData::internal_error(format!("{error}; {hint}"), Some(data))
}

/// Words why not, whether the rules or the world stood against it.
pub(super) fn refused(error: &ExecuteError) -> ErrorData {
    match error {
        ExecuteError::Refused(refusal) => {
            // Which tools there are differs: the words name none.
            let hint = refusal.hint();
            let data = json!({ "code": refusal.code(), "hint": hint });
            ErrorData::invalid_params(format!("{refusal}; {hint}"), Some(data))
        }
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => failed(error),
    }
}

fn invalid_cursor() -> ErrorData {
    ErrorData::invalid_params("`cursor` is not one that this server gave out", None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolsets::TOOLSETS;

    /// What a client gets and keeps, with titles, hints and the schemas of answers.
    #[test]
    fn lists_of_tools_are_small() {
        let size = |name: &str| {
            let toolset = TOOLSETS.iter().find(|it| it.name == name).unwrap();
            let tools: Vec<Tool> = toolset.tools().iter().map(tool).collect();
            serde_json::to_string(&tools).unwrap().len()
        };
        let sizes = TOOLSETS.iter().map(|it| (it.name, size(it.name))).collect::<BTreeMap<_, _>>();
        let most =
            [("core", 12_000), ("devworkflow", 21_000), ("forge", 24_000), ("generation", 13_000)];
        let large = most.into_iter().filter(|(name, most)| most < &sizes[name]);
        assert_eq!(large.collect::<Vec<_>>(), [], "{sizes:?}");
    }
}
