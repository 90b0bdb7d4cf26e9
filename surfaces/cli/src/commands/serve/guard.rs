//! Who may come in: those who ask for the server by one of its own names, with a token where one is
//! needed. A page elsewhere whose name leads to this machine comes under another name. What the
//! token lets its bearer do goes with the request.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use mcp::Credential;

use crate::{
    secret::{Token, bearer},
    token::Tokens,
};

/// The names of this machine, for itself.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What is asked of everyone.
pub(super) struct Guard {
    pub(super) hosts: Vec<String>,
    pub(super) token: Needed,
    /// Those that the user has made, with their scopes.
    pub(super) tokens: Tokens,
}

/// Which token every request must carry.
pub(super) enum Needed {
    /// None. One that it carries all the same counts.
    None,
    /// One that the user has made.
    Issued,
    /// This one, or one that the user has made.
    Own(Token),
}

/// Returns every name that the server goes by.
pub(super) fn hosts(address: SocketAddr, others: &[String]) -> Vec<String> {
    let mut hosts: Vec<String> = OWN_NAMES.map(ToOwned::to_owned).to_vec();
    hosts.push(address.ip().to_string());
    hosts.extend(others.iter().map(|it| name_of(it).to_owned()));
    hosts
}

/// Lets a request pass, or not.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let credential = match guard.admit(request.headers()) {
        Ok(credential) => credential,
        Err(response) => return *response,
    };
    if let Some(credential) = credential {
        request.extensions_mut().insert(credential);
    }
    next.run(request).await
}

impl Guard {
    /// Returns the credential of a request that is let in, if it has one; else what its sender is
    /// told.
    fn admit(&self, headers: &HeaderMap) -> Result<Option<Credential>, Box<Response>> {
        let header = |name: HeaderName| headers.get(name).and_then(|it| it.to_str().ok());
        let host = name_of(header(header::HOST).unwrap_or_default());
        if !self.hosts.iter().any(|it| it.eq_ignore_ascii_case(host)) {
            let text = "this server does not go by that name; setting `serve.hosts` names others\n";
            return Err(Box::new((StatusCode::FORBIDDEN, text).into_response()));
        }
        let carried = header(header::AUTHORIZATION).and_then(bearer);
        let issued = carried.and_then(|it| self.tokens.find(it)).map(Credential::from);
        let is_let_in = match &self.token {
            Needed::None => true,
            Needed::Issued => issued.is_some(),
            // The bearer of the server's own token may write. It never approves.
            Needed::Own(token) => issued.is_some() || carried.is_some_and(|it| token.is(it)),
        };
        if is_let_in {
            return Ok(issued);
        }
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"milepost\"")];
        let text = "a token is needed: `Authorization: Bearer …`\n";
        Err(Box::new((StatusCode::UNAUTHORIZED, challenge, text).into_response()))
    }
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    let port = host.rsplit_once(':').filter(|it| it.1.bytes().all(|it| it.is_ascii_digit()));
    // An address of the sixth version has colons of its own, in brackets.
    let name = port.filter(|it| !it.0.contains(':') || it.0.ends_with(']')).map_or(host, |it| it.0);
    name.trim_matches(['[', ']'])
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_port_is_no_part_of_a_name() {
        for (host, name) in [
            ("localhost", "localhost"),
            ("localhost:7420", "localhost"),
            ("127.0.0.1:80", "127.0.0.1"),
            ("[::1]:7420", "::1"),
            ("[::1]", "::1"),
            ("::1", "::1"),
            ("127.0.0.1.evil.example:80", "127.0.0.1.evil.example"),
            ("localhost:evil", "localhost:evil"),
        ] {
            assert_eq!(name_of(host), name, "{host}");
        }
    }
}
