//! The language model that the settings name, if any. `doctor` lists all that is missing for one: a
//! variable that another program needs must not keep this one from working.

use std::{path::Path, time::Duration};

use world::{Api, ModelSettings, Secret, beneath::read_named};

use super::{Origin, sources::Sources, table, value::Value};

/// The shortest time that is worth waiting for an answer.
const TIMEOUT_MIN: Duration = Duration::from_millis(1);

/// The largest file with a key in it.
const KEY_BYTES_MAX: u64 = 64 * 1024;

/// Returns the model that the settings name, or what is missing for one. With neither an endpoint nor
/// a key there is none.
pub(super) fn find(sources: &mut Sources) -> Result<Option<ModelSettings>, String> {
    if sources.text("model.api").as_deref() == Some("none") {
        return Ok(None);
    }
    let endpoint = sources.text("model.endpoint");
    let key = find_key(sources);
    let is_wanted = endpoint.is_some()
        || ["model.key", "model.key_file"].iter().any(|it| sources.is_set(it))
        || sources.text("model.api").is_some_and(|it| it != "auto");
    if !is_wanted {
        return Ok(None);
    }
    let api = find_api(sources, endpoint.as_deref());
    let name = sources.text("model.name");
    let needs_key = endpoint.is_none() || api.is_some_and(|it| it != Api::OpenAi);
    let mut missing = Vec::new();
    if api.is_none() {
        missing.push("model.endpoint");
    }
    if needs_key && key.is_none() && !sources.is_set("model.key_file") {
        missing.push("model.key");
    }
    if name.is_none() {
        missing.push("model.name");
    }
    let (Some(api), Some(name)) = (api, name) else { return Err(list(&missing)) };
    if !missing.is_empty() {
        return Err(list(&missing));
    }
    let tries = sources.values.get("model.tries").map(|it| &it.0);
    let Some(Value::Number(tries)) = tries else { return Ok(None) };
    Ok(Some(ModelSettings {
        api,
        endpoint: endpoint.unwrap_or_else(|| api.default_endpoint().to_owned()),
        key,
        name,
        timeout: sources.duration("model.timeout").max(TIMEOUT_MIN),
        budget: sources.duration("model.budget").max(TIMEOUT_MIN),
        tries_max: u32::try_from(*tries).unwrap_or(u32::MAX),
        backoff: sources.duration("model.backoff"),
    }))
}

fn list(missing: &[&str]) -> String {
    let names: Vec<String> = missing.iter().map(named).collect();
    format!("missing for a language model: {}", names.join("; "))
}

/// Returns the key: as it was said, else as a file has it.
fn find_key(sources: &mut Sources) -> Option<Secret> {
    if let Some((Value::Secret(key), _)) = sources.values.get("model.key") {
        return Some(key.clone());
    }
    let path = sources.text("model.key_file")?;
    let problem = match read_named(Path::new(&path), KEY_BYTES_MAX) {
        Ok(text) if text.trim().is_empty() => "it is empty".to_owned(),
        Ok(text) if text.trim().chars().any(char::is_control) => {
            "it must have the key in it and nothing else".to_owned()
        }
        Ok(text) => return Some(Secret::new(&text)),
        Err(error) => format!("it cannot be read: {error}"),
    };
    sources.refuse("model.key_file", format!("`{path}`: {problem}"));
    None
}

/// Returns the API: as it was said, else by the endpoint, else by the name that the key came under.
fn find_api(sources: &Sources, endpoint: Option<&str>) -> Option<Api> {
    match sources.text("model.api").as_deref() {
        Some("anthropic") => return Some(Api::Anthropic),
        Some("openai") => return Some(Api::OpenAi),
        Some("gemini") => return Some(Api::Gemini),
        Some(_) | None => {}
    }
    if let Some(endpoint) = endpoint {
        return Some(Api::guess(endpoint));
    }
    let origin = sources.values.get("model.key").map(|it| &it.1);
    let is_gemini = matches!(origin, Some(Origin::Environment(name)) if name == "GEMINI_API_KEY");
    is_gemini.then_some(Api::Gemini)
}

/// Returns a setting with every variable that sets it.
fn named(name: &&str) -> String {
    let variables = table::find(name).map(|it| it.variables().collect::<Vec<_>>());
    format!("`{name}` ({})", variables.unwrap_or_default().join(", "))
}

impl Sources {
    fn is_set(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|it| it.0 != Value::Unset)
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.values.get(name) {
            Some((Value::Text(text), _)) => Some(text.clone()),
            Some(_) | None => None,
        }
    }

    fn duration(&self, name: &str) -> Duration {
        match self.values.get(name) {
            Some((Value::Duration(duration), _)) => *duration,
            Some(_) | None => Duration::ZERO,
        }
    }
}
