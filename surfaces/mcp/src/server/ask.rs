//! Puts the open gate of a run to the person before the client, in the way of either era.
//!
//! A client of the newer era is answered with the question, and calls again with the answer and
//! with what was sealed for it: which gate, asked for which call. A client of the
//! older era is asked while its call waits.

use std::time::Duration;

use definition::{Digest, Hasher};
use engine::RunId;
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams,
        ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, RequestStateCodec,
        SealOptions,
    },
};
use runtime::Runtime;
use serde::{Deserialize, Serialize};

use super::{PersonsDoor, lists::refused};
use crate::{
    gate::{self, Form},
    tool::Person,
};

/// Seals what a client must bring back unchanged.
pub(super) struct Seal {
    key: [u8; 32],
    codec: RequestStateCodec,
    /// For how long an answer is taken.
    pub(super) lasts: Duration,
}

/// What was asked.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    key: String,
    digest: String,
}

impl Seal {
    pub(super) fn new(key: &[u8; 32], lasts: Duration) -> Self {
        let codec = RequestStateCodec::try_new(key.to_vec()).expect("32 bytes are enough");
        Self { key: *key, codec, lasts }
    }

    /// Returns the name of a question. Only a caller who was asked knows it, and what was shown is a
    /// part of it, so that an answer by this name is an answer to just that.
    pub(super) fn name(&self, form: &Form) -> String {
        let named = Hasher::default().field(self.key).field(&form.marks).finish();
        format!("gate-{}", named.as_str().split_at(32).0)
    }

    /// Returns what a client of the newer era answered, if its call brings an answer.
    pub(super) fn open(
        &self,
        request: &CallToolRequestParams,
        door: Option<PersonsDoor>,
    ) -> Result<Option<Person>, ErrorData> {
        let Some(sealed) = &request.request_state else { return Ok(None) };
        let bound = bound_to(request);
        let asked: Asked = self.codec.open_json_with(sealed, bound.as_bytes()).map_err(|_| {
            let text = "`requestState` is not the one that was given out for this call, or too \
                        old; call again without it to be asked again";
            ErrorData::invalid_params(text, None)
        })?;
        let replies = request.input_responses.as_ref();
        // Without an answer to what was asked it is asked again.
        let Some(reply) = replies.and_then(|it| it.get(&asked.key)) else { return Ok(None) };
        let digest = Digest::parse(&asked.digest);
        let digest = digest.ok_or_else(|| ErrorData::internal_error("the seal is broken", None))?;
        // An answer that is sent again is the same answer.
        let request_id = format!("asked-{}", Digest::of(sealed.as_bytes()).as_str());
        Ok(Some(gate::read(reply, (digest, Some(request_id)), door)))
    }

    /// Returns the question for a client of the newer era.
    pub(super) fn question(
        &self,
        request: &CallToolRequestParams,
        form: Form,
    ) -> Result<InputRequiredResult, ErrorData> {
        let key = self.name(&form);
        let asked = Asked { key: key.clone(), digest: form.digest.to_string() };
        let bound = bound_to(request);
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(self.lasts);
        let sealed = self.codec.seal_json_with(&asked, &options);
        let sealed = sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut questions = InputRequests::new();
        questions.insert(key, input_request(form)?);
        Ok(InputRequiredResult::new(Some(questions), Some(sealed)))
    }
}

/// What a sealed question belongs to: one tool with these arguments.
fn bound_to(request: &CallToolRequestParams) -> String {
    let arguments = serde_json::to_string(&request.arguments).unwrap_or_default();
    format!("tools/call {} {}", request.name, Digest::of(arguments.as_bytes()).as_str())
}

/// Returns the question as clients are asked it.
pub(super) fn input_request(form: Form) -> Result<InputRequest, ErrorData> {
    Ok(InputRequest::Elicitation(ElicitRequest::new(params(form)?)))
}

fn params(form: Form) -> Result<ElicitRequestParams, ErrorData> {
    let schema: ElicitationSchema = serde_json::from_value(form.schema)
        .map_err(|error| ErrorData::internal_error(format!("no form: {error}"), None))?;
    let (message, requested_schema) = (form.message, schema);
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Asks through a client of the older era, and waits for the answer.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    form: Form,
    lasts: Duration,
    door: Option<PersonsDoor>,
) -> Result<Person, ErrorData> {
    let digest = form.digest.clone();
    match peer.create_elicitation_with_timeout(params(form)?, Some(lasts)).await {
        Ok(reply) => {
            let reply = serde_json::to_value(reply).unwrap_or_default();
            Ok(gate::read(&reply, (digest, None), door))
        }
        Err(error) => {
            tracing::warn!("a client did not ask the person: {error}");
            Ok(Person::Silent("the person was asked, but no answer came"))
        }
    }
}

/// Returns whether a client can show a form.
pub(super) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let Some(elicitation) = capabilities.and_then(|it| it.elicitation.as_ref()) else {
        return false;
    };
    // One that names neither way means forms.
    elicitation.form.is_some() || elicitation.url.is_none()
}

/// Returns the open gate of a run as a form.
pub(super) async fn form(runtime: &Runtime, run: RunId) -> Result<Option<Form>, ErrorData> {
    let view = runtime.view(run, None).await.map_err(|error| refused(&error))?;
    gate::form(runtime, &view).await.map_err(|error| refused(&error))
}
