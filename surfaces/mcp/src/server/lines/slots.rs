//! Which requests of a client are not answered yet. A request has its slot until its answer is
//! written, so what a client does not read is bounded too.

use std::{collections::HashMap, future::pending, sync::Arc};

use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What streams news until the client has heard enough. It is bounded elsewhere.
const LISTEN: &str = "subscriptions/listen";

/// The slots of one client.
pub(super) struct Slots {
    free: Arc<Semaphore>,
    taken: Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl Slots {
    pub(super) fn new(max: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(max)), taken: Mutex::default() }
    }

    /// Waits until a slot is free, and takes it. Without a request it waits for ever.
    pub(super) async fn take(&self, id: Option<&RequestId>) {
        let Some(id) = id else { return pending().await };
        let Ok(permit) = Arc::clone(&self.free).acquire_owned().await else {
            return pending().await;
        };
        // A client that uses an id twice at once gets one answer.
        drop(self.taken.lock().insert(id.clone(), permit));
    }

    /// Frees the slot of a request.
    pub(super) fn release(&self, id: &RequestId) {
        drop(self.taken.lock().remove(id));
    }
}

/// Returns whether a message is a request that is answered in the end.
pub(super) fn needs_slot(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(it) if it.request.method() != LISTEN)
}

/// Returns the id of a request.
pub(super) fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    if let ClientJsonRpcMessage::Request(request) = message { Some(&request.id) } else { None }
}

/// Returns which request a client no longer wants to be answered.
pub(super) fn cancelled(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    let ClientJsonRpcMessage::Notification(it) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &it.notification else {
        return None;
    };
    cancelled.params.request_id.as_ref()
}

/// Returns which request a message answers.
pub(super) fn answered_id(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::{
        model::{ClientJsonRpcMessage, ErrorData, ServerJsonRpcMessage},
        transport::Transport as _,
    };
    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::request_id;
    use crate::server::lines::Lines;

    #[expect(clippy::needless_pass_by_value, reason = "it is given what was just received")]
    fn ids(message: Option<ClientJsonRpcMessage>) -> Option<String> {
        message.as_ref().and_then(request_id).map(ToString::to_string)
    }

    async fn lines(calls_max: usize, text: &str) -> Lines<tokio::io::DuplexStream, Vec<u8>> {
        let (mut client, server) = duplex(64 * 1024);
        client.write_all(text.as_bytes()).await.unwrap();
        let (mut lines, _) = Lines::new(server, Vec::new(), calls_max);
        lines.has_begun = true;
        lines
    }

    fn ping(id: u32) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
    }

    fn cancel(id: u32) -> String {
        let params = format!("{{\"requestId\":{id}}}");
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}\n"
        )
    }

    fn answer(id: u32) -> ServerJsonRpcMessage {
        let error = ErrorData::internal_error("no", None);
        ServerJsonRpcMessage::error(error, Some(rmcp::model::NumberOrString::Number(id.into())))
    }

    #[tokio::test]
    async fn a_request_waits_until_the_answer_to_another_is_written() {
        let mut lines = lines(1, &format!("{}{}", ping(1), ping(2))).await;
        assert_eq!(ids(lines.receive().await).as_deref(), Some("1"));
        let sent = lines.send(answer(1));
        tokio::select! {
            biased;
            _ = lines.receive() => unreachable!("the first is not answered"),
            () = tokio::task::yield_now() => {}
        }
        sent.await.unwrap();
        assert_eq!(ids(lines.receive().await).as_deref(), Some("2"));
    }

    #[tokio::test]
    async fn a_request_that_is_cancelled_while_it_waits_is_never_begun() {
        let text = format!("{}{}{}{}", ping(1), ping(2), cancel(2), ping(3));
        let mut lines = lines(1, &text).await;
        assert_eq!(ids(lines.receive().await).as_deref(), Some("1"));
        assert_eq!(ids(lines.receive().await), None, "the cancellation does not wait");
        lines.send(answer(1)).await.unwrap();
        assert_eq!(ids(lines.receive().await).as_deref(), Some("3"));
    }
}
