//! Tokens: random, kept as digests in the user's own folder, each with one scope.

use std::{io, path::Path};

use definition::Digest;
use mcp::{Credential, Scope};
use serde_json::{Value, json};

use crate::{kept::Kept, secret};

/// What is known of a token. The token itself is shown once, and kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Issued {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) at: String,
}

/// Every token there is. Read each time it is asked, so that one that was revoked is refused at
/// once.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    kept: Option<Kept>,
}

impl Tokens {
    /// Returns the tokens in the user's own folder `state`, if there can be one.
    pub(crate) fn new(state: Option<&Path>) -> Self {
        Self { kept: state.map(|it| Kept::new(it.join("tokens"))) }
    }

    /// Makes a token, and returns it.
    pub(crate) fn issue(&self, issued: &Issued) -> io::Result<String> {
        let secret: String = secret::make()?.iter().map(|it| format!("{it:02x}")).collect();
        let token = format!("milepost_{}_{secret}", word(issued.scope));
        let kept = self.kept.as_ref().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "you have no folder for it: set `HOME`")
        })?;
        let Issued { name, scope, at } = issued;
        let record = json!({"version": 1, "name": name, "scope": word(*scope), "at": at});
        kept.write(&file(&token), &record)?;
        Ok(token)
    }

    /// Returns what is known of a token. It is looked up by its digest, so how long that takes says
    /// nothing of any other.
    pub(crate) fn find(&self, token: &str) -> Option<Issued> {
        read(&self.kept.as_ref()?.find(&file(token.trim()))?)
    }

    /// Returns the tokens there are, each with its id.
    pub(crate) fn list(&self) -> Vec<(String, Issued)> {
        let all = self.kept.as_ref().map(Kept::list).unwrap_or_default();
        all.into_iter().filter_map(|(id, value)| Some((id, read(&value)?))).collect()
    }

    /// Revokes the token with this id.
    pub(crate) fn revoke(&self, id: &str) -> io::Result<bool> {
        self.kept.as_ref().map_or(Ok(false), |it| it.remove(id))
    }
}

impl From<Issued> for Credential {
    fn from(issued: Issued) -> Self {
        Self { name: issued.name, scope: issued.scope }
    }
}

/// Returns the word for a scope.
pub(crate) fn word(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Write => "write",
        Scope::Approve => "approve",
    }
}

fn file(token: &str) -> String {
    Digest::of(token.as_bytes()).as_str().to_owned()
}

fn read(value: &Value) -> Option<Issued> {
    let text = |name: &str| value.get(name)?.as_str().map(ToOwned::to_owned);
    let said = text("scope")?;
    let scopes = [Scope::Read, Scope::Write, Scope::Approve];
    let scope = scopes.into_iter().find(|it| word(*it) == said)?;
    Some(Issued { name: text("name")?, scope, at: text("at")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_until_it_is_revoked_and_kept_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(Some(folder.path()));
        let issued =
            Issued { name: "phone".to_owned(), scope: Scope::Approve, at: "now".to_owned() };
        let token = tokens.issue(&issued).unwrap();
        assert_eq!(tokens.find(&format!("{token}\n")), Some(issued.clone()));
        assert_eq!(tokens.find(&token.replace("approve", "write")), None);
        let (id, listed) = tokens.list().remove(0);
        assert_eq!(listed, issued);
        let file = std::fs::read_to_string(folder.path().join(format!("tokens/{id}.json")));
        assert!(!file.unwrap().contains(token.rsplit('_').next().unwrap()));
        assert!(tokens.revoke(&id).unwrap());
        assert_eq!(tokens.find(&token), None);
        assert_eq!(tokens.find("../../x"), None);
    }
}
