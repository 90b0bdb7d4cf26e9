//! Who calls a tool, and over what.

use serde_json::{Value, json};

use crate::{
    http::HttpServer,
    project::Project,
    server::{Era, Server},
};

/// Who calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Agent,
    Form,
    Http,
    Read,
    Write,
    Approve,
}

/// A server, and the way to it of one caller.
pub(crate) enum Line {
    Pipe(Server),
    /// The header with the token, if there is one.
    Http(HttpServer, Option<String>),
}

/// What a call led to.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) value: Value,
    pub(crate) is_error: bool,
    /// It was refused before any tool saw it.
    pub(crate) is_denied: bool,
}

impl Caller {
    pub(crate) const ALL: [Self; 6] =
        [Self::Agent, Self::Form, Self::Http, Self::Read, Self::Write, Self::Approve];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Form => "form",
            Self::Http => "http",
            Self::Read => "read",
            Self::Write => "write",
            Self::Approve => "approve",
        }
    }

    /// Whether an answer by it is a person's own.
    pub(crate) fn is_person(self) -> bool {
        matches!(self, Self::Form | Self::Approve)
    }

    pub(crate) fn explain() -> String {
        let means = |it: Self| match it {
            Self::Agent => "over stdio, with a client that shows no forms",
            Self::Form => "over stdio, with a client that shows forms; the person approves in each",
            Self::Http => "over HTTP without a token, and approves in each form by itself",
            Self::Read => "the same with a token that may read",
            Self::Write => "the same with a token that may write",
            Self::Approve => "the same with a token that may approve",
        };
        Self::ALL.map(|it| format!("{:9} {}\n", it.name(), means(it))).concat()
    }
}

impl Line {
    pub(crate) fn open(project: &Project, toolsets: &str, caller: Caller) -> Self {
        let token = |scope: &str| {
            let issued = project.ask(&["token", "new", "--scope", scope, "--name", scope]);
            issued["token"].as_str().unwrap().to_owned()
        };
        let token = match caller {
            Caller::Agent | Caller::Form => {
                let mut server = Server::inside(project, &["--toolset", toolsets], Era::Modern);
                if caller == Caller::Form {
                    server.capabilities = json!({"elicitation": {}});
                }
                return Self::Pipe(server);
            }
            Caller::Http => None,
            Caller::Read => Some(token("read")),
            Caller::Write => Some(token("write")),
            Caller::Approve => Some(project.approve_token().to_owned()),
        };
        let offered = format!("mcp.toolsets={toolsets}");
        let arguments = ["serve", "--address", "127.0.0.1:0", "--set", &offered];
        let server = HttpServer::start(&mut project.milepost(&arguments));
        Self::Http(server, token.map(|it| format!("Bearer {it}")))
    }

    /// Calls a tool. If it is answered by a form, gives `answer` in it.
    pub(crate) fn call(&self, tool: &str, arguments: &Value, answer: &str) -> Reply {
        let params = json!({"name": tool, "arguments": arguments});
        let mut message = self.request(params.clone());
        if let Some(form) = message["result"]["inputRequests"].as_object() {
            let reply = json!({"action": "accept", "content": {"answer": answer}});
            let replies: Value = form.keys().map(|it| (it.clone(), reply.clone())).collect();
            let mut params = params;
            params["requestState"] = message["result"]["requestState"].clone();
            params["inputResponses"] = replies;
            message = self.request(params);
        }
        let result = &message["result"];
        let said = &message["error"]["message"];
        let text = if result.is_object() { &result["content"][0]["text"] } else { said };
        Reply {
            text: text.as_str().unwrap_or_else(|| panic!("`{tool}`: {message}")).to_owned(),
            value: result["structuredContent"].clone(),
            is_error: result["isError"] != false,
            is_denied: text.as_str().is_some_and(|it| it.contains("may only read")),
        }
    }

    fn request(&self, params: Value) -> Value {
        match self {
            Self::Pipe(server) => server
                .request("tools/call", params)
                .unwrap_or_else(|_| panic!("the server is gone:\n{}", server.talk())),
            Self::Http(server, token) => {
                let header = token.as_deref().map(|it| ("authorization", it));
                let can = json!({"elicitation": {}});
                server.ask_with("tools/call", params, header.as_slice(), &can).json()
            }
        }
    }
}
