//! What the MCP library asks of a server: each request is answered by what is in the files beside.

use rmcp::{
    ErrorData, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
        CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult,
        ErrorCode, ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
        GetTaskResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::SubscriptionContext,
};
use serde_json::Map;

use super::{Context, PersonsDoor, Server, ask, caught, is_modern, lists, tasks};
use crate::resources::Address;

/// How long a client may keep what it was told of the server and its tools.
const TTL_MS: u64 = 3_600_000;
/// How long a client may keep a list that grows with the work.
const LIST_TTL_MS: u64 = 5_000;
/// The extension for pages that hosts show.
const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Requests that the library knows. One of them that it could not read is malformed, not unknown.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/templates/list",
    "completion/complete",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Those of them that only the older era has. In the newer one they are unknown, readable or not.
const OLDER_METHODS: &[&str] =
    &["initialize", "ping", "resources/subscribe", "resources/unsubscribe"];

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(UI_EXTENSION.to_owned(), Map::new());
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .enable_extensions_with(extensions)
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(self.shared.info.clone())
            .with_instructions(self.shared.tools.instructions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // Clients of the older era are told of the resources that they name, not of new ones.
        if let Some(resources) = &mut result.capabilities.resources {
            resources.list_changed = None;
        }
        Ok(result)
    }

    async fn discover(&self, _context: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|it| it.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is only one page of tools", None));
        }
        let mut result = ListToolsResult::with_all_items(self.shared.listed.clone())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public);
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let calling = Box::pin(self.call(&request, &context));
        Box::pin(self.answer(&request.name, &context, calling)).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        let tools = &self.shared.tools;
        let listing = Box::pin(async { lists::prompts(self.runtime(), tools, cursor.as_deref()) });
        let (prompts, next) = self.answer("prompts/list", &context, listing).await?;
        let mut result = ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let tools = &self.shared.tools;
        let reading =
            Box::pin(lists::read_prompt(self.runtime(), tools, &request.name, request.arguments));
        let mut result = self.answer("prompts/get", &context, reading).await?;
        self.stamp(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        let listing = Box::pin(lists::resources(self.runtime(), cursor.as_deref()));
        let (resources, next) = self.answer("resources/list", &context, listing).await?;
        let mut result = ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if request.is_some_and(|it| it.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is only one page of templates", None));
        }
        let mut result = ListResourceTemplatesResult::with_all_items(lists::templates())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public);
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let reading =
            Box::pin(lists::read_resource(self.runtime(), &self.shared.tools, &request.uri));
        let result = self.answer("resources/read", &context, reading).await?;
        let lasts = matches!(Address::parse(&request.uri), Some(Address::HowTo | Address::App));
        let (ttl_ms, scope) =
            if lasts { (TTL_MS, CacheScope::Public) } else { (0, CacheScope::Private) };
        let mut result = result.with_ttl_ms(ttl_ms).with_cache_scope(scope);
        self.stamp(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let given = request.context.and_then(|it| it.arguments).unwrap_or_default();
        let (argument, given) = (request.argument, given.into_iter().collect());
        let completing = Box::pin(lists::completions(
            self.runtime(),
            &request.r#ref,
            &argument.name,
            &argument.value,
            given,
        ));
        let mut result =
            CompleteResult::new(self.answer("completion/complete", &context, completing).await?);
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.watcher.accept(self.runtime(), requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let listening = self.watcher.listen(self.runtime(), context);
        caught::caught(Box::pin(listening))
            .await
            .unwrap_or_else(|panic| Err(self.incident("subscriptions/listen", &panic)))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let peer = context.peer.clone();
        let subscribing =
            Box::pin(self.watcher.subscribe(&self.shared.runtime, &request.uri, peer));
        self.answer("resources/subscribe", &context, subscribing).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.watcher.unsubscribe(&request.uri);
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let shows_forms = ask::shows_forms(context.client_capabilities().as_ref());
        let seal = shows_forms.then_some(&self.shared.seal);
        let door = PersonsDoor::find(self.line, &context);
        let getting = Box::pin(tasks::get(self.runtime(), &request.task_id, (seal, door)));
        let mut result = self.answer("tasks/get", &context, getting).await?;
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if !ask::shows_forms(context.client_capabilities().as_ref()) {
            let needed = ClientCapabilities::builder().enable_elicitation().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        self.check_writes("tasks/update", &context)?;
        let (call, seal) = (self.plain_call(&context), &self.shared.seal);
        let door = PersonsDoor::find(self.line, &context);
        let replies = (&request.input_responses, door);
        let updating = Box::pin(tasks::update(&call, &request.task_id, replies, seal));
        self.answer("tasks/update", &context, updating).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.check_writes("tasks/cancel", &context)?;
        let call = self.plain_call(&context);
        self.answer("tasks/cancel", &context, Box::pin(tasks::cancel(&call, &request.task_id)))
            .await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let is_gone = is_modern(&context) && OLDER_METHODS.contains(&method.as_str());
        if !is_gone && METHODS.contains(&method.as_str()) {
            let text = format!("the parameters of `{method}` cannot be read");
            return Err(ErrorData::invalid_params(text, None));
        }
        let code = ErrorCode::METHOD_NOT_FOUND;
        Err(ErrorData::new(code, format!("there is no method `{method}`"), None))
    }
}
