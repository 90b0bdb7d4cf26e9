//! Asks a language model over HTTP, and tries again where that can help: within a budget, and not
//! at all while the endpoint is known to be away. It hands back words; what they mean is not
//! decided here.

mod anthropic;
mod breaker;
mod gemini;
mod openai;
mod schema;
mod secret;

use std::{
    sync::{Mutex, OnceLock},
    time::Duration,
};

use engine::{ModelFact, ModelFailure, ModelFailureKind, Usage};
use reqwest::{Client, StatusCode, header};
use serde_json::Value;
use tokio::time::Instant;

use breaker::Breaker;
pub use secret::Secret;

/// The most of a reply that is read, in bytes.
const REPLY_BYTES_MAX: usize = 1024 * 1024;
/// The most of an error that is told, in characters.
const ERROR_CHARS_MAX: usize = 200;
/// The longest pause between two tries, unless the endpoint asks for a longer one.
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// The language that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's messages.
    Anthropic,
    /// Chat completions, as `OpenAI` and many others have them.
    OpenAi,
    Gemini,
}

/// What the configuration says about the language model.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub api: Api,
    /// A base address, or the whole one.
    pub endpoint: String,
    pub key: Option<Secret>,
    pub name: String,
    /// How long one try may take.
    pub timeout: Duration,
    /// How long all tries may take, pauses among them.
    pub budget: Duration,
    pub tries_max: u32,
    /// The first pause between two tries. Each next one is twice as long.
    pub backoff: Duration,
}

/// A language model.
#[derive(Debug)]
pub(crate) struct Model {
    settings: ModelSettings,
    /// Made at the first question, so that it costs nothing where none is asked.
    client: OnceLock<Result<Client, String>>,
    breaker: Mutex<Breaker>,
}

/// What a model is asked.
struct Asked<'a> {
    system: &'a str,
    user: &'a str,
    names: &'a [String],
}

/// The answer to one try.
struct Said {
    text: String,
    tokens_in: u64,
    tokens_out: u64,
}

/// Why one try failed.
struct Failed {
    failure: ModelFailure,
    /// Whether the same may work later, and after how long at least.
    again: Option<Duration>,
}

impl Api {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    /// Returns where its maker serves it.
    pub fn default_endpoint(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// Returns the language that an endpoint most likely speaks.
    pub fn guess(endpoint: &str) -> Self {
        let endpoint = endpoint.to_lowercase();
        if endpoint.contains("anthropic") || endpoint.ends_with("/messages") {
            return Self::Anthropic;
        }
        if endpoint.contains("googleapis") || endpoint.contains("generatecontent") {
            return Self::Gemini;
        }
        Self::OpenAi
    }

    fn body(self, model: &str, asked: &Asked<'_>) -> Value {
        match self {
            Self::Anthropic => anthropic::body(model, asked),
            Self::OpenAi => openai::body(model, asked),
            Self::Gemini => gemini::body(asked),
        }
    }

    fn address(self, endpoint: &str, model: &str) -> String {
        let endpoint = endpoint.trim_end_matches('/');
        match self {
            Self::Anthropic => anthropic::address(endpoint),
            Self::OpenAi => openai::address(endpoint),
            Self::Gemini => gemini::address(endpoint, model),
        }
    }

    fn read(self, reply: &Value) -> Result<Said, ModelFailure> {
        match self {
            Self::Anthropic => anthropic::read(reply),
            Self::OpenAi => openai::read(reply),
            Self::Gemini => gemini::read(reply),
        }
    }
}

impl Model {
    pub(crate) fn new(settings: ModelSettings) -> Self {
        Self { settings, client: OnceLock::new(), breaker: Mutex::default() }
    }

    /// Asks, and tries again while that can help.
    pub(crate) async fn ask(&self, system: &str, user: &str, names: &[String]) -> ModelFact {
        let asked = Asked { system, user, names };
        let began = Instant::now();
        let mut usage = Usage { model: self.settings.name.clone(), ..Usage::default() };
        let answered = self.try_all(&asked, began, &mut usage.tries).await;
        usage.latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (tries, ms) = (usage.tries, usage.latency_ms);
        match answered {
            Ok(said) => {
                usage.tokens_in = said.tokens_in;
                usage.tokens_out = said.tokens_out;
                tracing::debug!(model = %usage.model, tries, ms, "the language model answered");
                ModelFact::Replied { text: said.text, usage }
            }
            Err(failure) => {
                let kind = failure.kind.as_str();
                let problem = &failure.message;
                tracing::warn!(model = %usage.model, tries, ms, kind, "no answer: {problem}");
                ModelFact::Failed { failure, usage }
            }
        }
    }

    async fn try_all(
        &self,
        asked: &Asked<'_>,
        began: Instant,
        tries: &mut u32,
    ) -> Result<Said, ModelFailure> {
        let mut last = api_failure("it was not asked at all");
        for number in 0..self.settings.tries_max.max(1) {
            self.check_breaker()?;
            *tries = number + 1;
            let left = self.settings.budget.saturating_sub(began.elapsed());
            match self.try_once(asked, left).await {
                Ok(said) => {
                    self.note(true);
                    return Ok(said);
                }
                Err(Failed { failure, again: None }) => {
                    // It is there, whatever it says.
                    self.note(true);
                    return Err(failure);
                }
                Err(Failed { failure, again: Some(wanted) }) => {
                    self.note(false);
                    last = failure;
                    let pause = self.pause(number).max(wanted);
                    let left = self.settings.budget.saturating_sub(began.elapsed());
                    if left <= pause || number + 1 == self.settings.tries_max {
                        break;
                    }
                    wait(pause).await;
                }
            }
        }
        Err(last)
    }

    async fn try_once(&self, asked: &Asked<'_>, left: Duration) -> Result<Said, Failed> {
        let timeout = self.settings.timeout.min(left);
        match tokio::time::timeout(timeout, self.send(asked)).await {
            Ok(answered) => answered,
            Err(_) => {
                let kind = ModelFailureKind::Timeout;
                let message = format!("it took longer than {} ms", timeout.as_millis());
                Err(Failed { failure: ModelFailure { kind, message }, again: Some(Duration::ZERO) })
            }
        }
    }

    async fn send(&self, asked: &Asked<'_>) -> Result<Said, Failed> {
        let Self { settings, .. } = self;
        let client = self.client().map_err(|message| Failed::for_good(api_failure(message)))?;
        let address = settings.api.address(&settings.endpoint, &settings.name);
        let body = settings.api.body(&settings.name, asked).to_string();
        let mut request =
            client.post(address).header(header::CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = &settings.key {
            request = match settings.api {
                Api::Anthropic => request.header("x-api-key", key.expose()),
                Api::OpenAi => request.bearer_auth(key.expose()),
                Api::Gemini => request.header("x-goog-api-key", key.expose()),
            };
        }
        if settings.api == Api::Anthropic {
            request = request.header("anthropic-version", anthropic::VERSION);
        }
        let mut response = request.send().await.map_err(|error| self.broken(error))?;
        let status = response.status();
        let wanted = response.headers().get(header::RETRY_AFTER).and_then(|it| it.to_str().ok());
        let wanted = wanted.and_then(|it| it.trim().parse().ok()).map(Duration::from_secs);
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            bytes.extend_from_slice(&chunk);
            if REPLY_BYTES_MAX < bytes.len() {
                let message = format!("its reply has more than {REPLY_BYTES_MAX} bytes");
                return Err(Failed::for_good(invalid(message)));
            }
        }
        if !status.is_success() {
            return Err(self.refused(status, &bytes, wanted));
        }
        let Ok(reply) = serde_json::from_slice::<Value>(&bytes) else {
            return Err(Failed::for_good(invalid("its reply is not JSON")));
        };
        settings.api.read(&reply).map_err(Failed::for_good)
    }

    fn client(&self) -> Result<&Client, &str> {
        let made = self.client.get_or_init(|| {
            // Anyone who came first has installed the same one.
            drop(rustls::crypto::ring::default_provider().install_default());
            let builder = Client::builder().redirect(reqwest::redirect::Policy::none());
            // What runs on this computer is not asked for through a proxy.
            let builder = if self.is_local() { builder.no_proxy() } else { builder };
            // Without encryption no certificate is looked at, and a computer may have none.
            let is_plain = self.settings.endpoint.starts_with("http://");
            let builder = if is_plain { builder.tls_certs_only([]) } else { builder };
            builder.build().map_err(|error| format!("no HTTP client: {error}"))
        });
        made.as_ref().map_err(String::as_str)
    }

    fn is_local(&self) -> bool {
        let host = self.settings.endpoint.split("://").nth(1).unwrap_or_default();
        ["127.", "localhost", "[::1]"].iter().any(|it| host.starts_with(it))
    }

    /// A connection that was not made, or broke off.
    fn broken(&self, error: reqwest::Error) -> Failed {
        // The address may hold a secret, and is known anyway.
        let error = error.without_url();
        let reason = std::error::Error::source(&error).map_or_else(|| error.to_string(), source);
        let message = self.clean(&format!("it cannot be reached: {reason}"));
        Failed { failure: api_failure(message), again: Some(Duration::ZERO) }
    }

    fn refused(&self, status: StatusCode, body: &[u8], wanted: Option<Duration>) -> Failed {
        let is_passing = status.is_server_error()
            || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(&status);
        let is_about_key = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
        let said = serde_json::from_slice::<Value>(body).ok();
        let said = said.as_ref().and_then(|it| it.pointer("/error/message")?.as_str());
        // What is said of a key may quote it.
        let said = said.filter(|_| !is_about_key).map(|it| format!(": {it}")).unwrap_or_default();
        let failure = api_failure(self.clean(&format!("it answered {status}{said}")));
        Failed { failure, again: is_passing.then(|| wanted.unwrap_or_default()) }
    }

    /// Returns a text of the outside without the key, and short.
    fn clean(&self, text: &str) -> String {
        let key = self.settings.key.as_ref().map(Secret::expose).filter(|it| !it.is_empty());
        let text = key.map_or_else(|| text.to_owned(), |key| text.replace(key, "***"));
        text.replace(char::is_control, " ").chars().take(ERROR_CHARS_MAX).collect()
    }

    /// The pause after a try: twice the one before, and not the same for everybody.
    fn pause(&self, number: u32) -> Duration {
        let whole = self.settings.backoff.saturating_mul(2_u32.saturating_pow(number));
        let [.., chance] = *uuid::Uuid::now_v7().as_bytes();
        whole.min(BACKOFF_MAX).mul_f64(0.75 + f64::from(chance) / 1024.0)
    }

    fn check_breaker(&self) -> Result<(), ModelFailure> {
        let Ok(mut breaker) = self.breaker.lock() else { return Ok(()) };
        breaker.check(Instant::now()).map_err(|left| {
            let seconds = left.as_secs() + 1;
            api_failure(format!("it failed again and again, and is left alone for {seconds} s"))
        })
    }

    fn note(&self, is_fine: bool) {
        if let Ok(mut breaker) = self.breaker.lock() {
            breaker.note(is_fine, Instant::now());
        }
    }
}

impl Failed {
    fn for_good(failure: ModelFailure) -> Self {
        Self { failure, again: None }
    }
}

fn source(error: &(dyn std::error::Error + 'static)) -> String {
    // The last cause says most: `connection refused` rather than `client error`.
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

fn api_failure(message: impl Into<String>) -> ModelFailure {
    ModelFailure { kind: ModelFailureKind::Api, message: message.into() }
}

fn invalid(message: impl Into<String>) -> ModelFailure {
    ModelFailure { kind: ModelFailureKind::InvalidResponse, message: message.into() }
}

fn unsafe_reply(reason: &str) -> ModelFailure {
    let message = format!("it would not answer ({reason})");
    ModelFailure { kind: ModelFailureKind::Safety, message }
}

fn number(reply: &Value, pointer: &str) -> u64 {
    reply.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "the world is where real time passes")]
async fn wait(duration: Duration) {
    tokio::time::sleep(duration).await;
}
