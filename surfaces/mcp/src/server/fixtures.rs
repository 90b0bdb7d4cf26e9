//! What the official conformance suite calls by fixed names, laid over the real server.
//!
//! Only in a build with the feature `conformance`, never in one that is shipped. Everything that
//! is not a fixture is passed on, so the suite sees this server's own definitions and answers
//! too, over its own transport.
#![expect(deprecated, reason = "what is only of the older era is tested, and passed on, too")]

mod content;
mod legacy;
mod questions;
mod reading;
mod skills;
mod tools;
mod work;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
        CancelledNotificationParam, ClientCapabilities, CompleteRequestParams, CompleteResult,
        ContentBlock, CustomNotification, CustomRequest, CustomResult, DiscoverResult,
        GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, RequestStateCodec, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{NotificationContext, ServiceError, SubscriptionContext, SubscriptionSink},
    task_manager::TaskManager,
};
use serde_json::{Value, json};

use super::{Context, Server, is_modern};

/// Seals what the fixtures give out. It guards nothing.
const KEY: &[u8] = b"only-for-runs-of-the-conformance-suite";

/// What a fixture answers a call with.
type Answer = Result<CallToolResponse, ErrorData>;
type Notice = NotificationContext<RoleServer>;

/// The real server with the fixtures over it.
#[derive(Clone)]
pub(super) struct Fixtures {
    real: Server,
    shared: Arc<Shared>,
}

/// What all clients of the fixtures have in common.
struct Shared {
    tools: Vec<Tool>,
    codec: RequestStateCodec,
    tasks: TaskManager,
    /// The clients of the newer era that listen, and for what, by number.
    listening: Mutex<BTreeMap<u64, (SubscriptionFilter, SubscriptionSink)>>,
    listened: AtomicU64,
}

/// A call of a fixture.
struct Asked<'a> {
    request: &'a CallToolRequestParams,
    context: &'a Context,
    can: ClientCapabilities,
}

impl Asked<'_> {
    fn name(&self) -> &str {
        &self.request.name
    }

    fn argument(&self, name: &str) -> Option<&Value> {
        self.request.arguments.as_ref()?.get(name)
    }

    fn text(&self, name: &str, otherwise: &str) -> String {
        self.argument(name).and_then(Value::as_str).unwrap_or(otherwise).to_owned()
    }

    /// Returns what the client brings to a question that it was asked before.
    fn reply(&self, key: &str) -> Option<&Value> {
        self.request.input_responses.as_ref()?.get(key).filter(|it| it.is_object())
    }

    fn state(&self) -> Option<&str> {
        self.request.request_state.as_deref()
    }
}

impl Fixtures {
    pub(super) fn new(real: Server) -> Self {
        let shared = Shared {
            tools: tools::list(),
            codec: RequestStateCodec::try_new(KEY.to_vec()).expect("the key is long enough"),
            tasks: TaskManager::new(),
            listening: Mutex::default(),
            listened: AtomicU64::new(0),
        };
        Self { real, shared: Arc::new(shared) }
    }

    /// Returns the same for another client.
    pub(super) fn for_client(&self) -> Self {
        Self { real: self.real.for_client(), shared: Arc::clone(&self.shared) }
    }

    fn has_tool(&self, name: &str) -> bool {
        self.shared.tools.iter().any(|it| it.name == name)
    }

    async fn call(&self, request: &CallToolRequestParams, context: &Context) -> Answer {
        let can = context.client_capabilities().unwrap_or_default();
        let asked = Asked { request, context, can };
        if let Some(answer) = content::call(&asked).await {
            return answer;
        }
        if let Some(answer) = questions::call(&asked, &self.shared.codec) {
            return answer;
        }
        if let Some(answer) = legacy::call(&asked).await {
            return answer;
        }
        if let Some(answer) = work::call(&asked, &self.shared.tasks).await {
            return answer;
        }
        self.tell_lists_changed(asked.name()).await;
        done("changed")
    }

    /// Tells everyone who listens that a list has changed, though none has.
    async fn tell_lists_changed(&self, name: &str) {
        let listening: Vec<_> = self.shared.listening.lock().values().cloned().collect();
        for (filter, sink) in listening {
            let told = match name {
                tools::CHANGE_TOOLS if filter.tools_list_changed == Some(true) => {
                    sink.notify_tool_list_changed().await
                }
                tools::CHANGE_PROMPTS if filter.prompts_list_changed == Some(true) => {
                    sink.notify_prompt_list_changed().await
                }
                _ => Ok(()),
            };
            if let Err(error) = told {
                tracing::debug!("one who listened has gone: {error}");
            }
        }
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.real.get_info();
        let offered = &mut info.capabilities;
        offered.tools.get_or_insert_default().list_changed = Some(true);
        offered.prompts.get_or_insert_default().list_changed = Some(true);
        offered.logging = Some(JsonObject::new());
        let settings = object(json!({ "directoryRead": true }));
        offered.extensions.get_or_insert_default().insert(skills::EXTENSION.to_owned(), settings);
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.real.supported_protocol_versions()
    }

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        self.real.ping(context).await
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.real.initialize(request, context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.real.negotiate_initialize(request)?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.real.discover(context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = self.shared.tools.iter().find(|it| it.name == name).cloned();
        fixture.or_else(|| self.real.get_tool(name))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.real.list_tools(request, context).await?;
        result.tools.extend(self.shared.tools.iter().cloned());
        Ok(result)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Answer {
        if !self.has_tool(&request.name) {
            return self.real.call_tool(request, context).await;
        }
        self.call(&request, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result = self.real.list_prompts(request, context).await?;
        // Once, whatever the number of pages.
        if result.next_cursor.is_none() {
            result.prompts.extend(reading::prompts());
        }
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        match reading::prompt(&request) {
            Some(prompt) => Ok(prompt),
            None => self.real.get_prompt(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = self.real.list_resources(request, context).await?;
        if result.next_cursor.is_none() {
            result.resources.extend(reading::resources());
            result.resources.push(skills::resource());
        }
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = self.real.list_resource_templates(request, context).await?;
        result.resource_templates.push(reading::template());
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match reading::read(&request.uri).or_else(|| skills::read(&request.uri)) {
            Some(contents) => Ok(contents.into()),
            None => self.real.read_resource(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.real.complete(request, context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return self.real.set_level(request, context).await;
        }
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = self.real.accepted_subscription_filter(requested)?;
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let number = self.shared.listened.fetch_add(1, Ordering::Relaxed);
        let listener = (context.accepted().clone(), context.sink().clone());
        self.shared.listening.lock().insert(number, listener);
        let heard = self.real.listen(context).await;
        self.shared.listening.lock().remove(&number);
        heard
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if request.uri.starts_with(reading::SCHEME) {
            return Ok(());
        }
        self.real.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.real.unsubscribe(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        match self.shared.tasks.get_task(&request.task_id) {
            Ok(task) => Ok(GetTaskResult::new(task)),
            Err(_) => self.real.get_task(request, context).await,
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if self.shared.tasks.get_task(&request.task_id).is_err() {
            return self.real.update_task(request, context).await;
        }
        self.shared.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if self.shared.tasks.get_task(&request.task_id).is_err() {
            return self.real.cancel_task(request, context).await;
        }
        self.shared.tasks.cancel_task(&request.task_id)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        match skills::answer(&request) {
            Some(answer) => answer.map(CustomResult::new),
            None => self.real.on_custom_request(request, context).await,
        }
    }

    async fn on_cancelled(&self, notice: CancelledNotificationParam, context: Notice) {
        self.real.on_cancelled(notice, context).await;
    }

    async fn on_progress(&self, notice: ProgressNotificationParam, context: Notice) {
        self.real.on_progress(notice, context).await;
    }

    async fn on_initialized(&self, context: Notice) {
        self.real.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: Notice) {
        self.real.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(&self, notice: CustomNotification, context: Notice) {
        self.real.on_custom_notification(notice, context).await;
    }
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

fn done(words: impl Into<String>) -> Answer {
    Ok(text(words).into())
}

/// Makes an object of what is written as one.
fn object(value: Value) -> JsonObject {
    let Value::Object(object) = value else { return JsonObject::new() };
    object
}

/// Words that a client could not be told something.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn gone(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
