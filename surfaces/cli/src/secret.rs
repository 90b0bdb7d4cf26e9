//! Secrets: one that seals, made once and kept in a file that only its owner reads; and the token
//! that guards a server which other machines can reach.

use std::{fs, io, path::Path};

use definition::Digest;
use world::beneath::{Care, Root};

/// The shortest token that is taken.
const TOKEN_BYTES_MIN: usize = 16;

/// Returns a new secret.
pub(crate) fn make() -> io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    Ok(secret)
}

/// Returns the secret in the file, which is made if it is not there. Any number of processes may do
/// this at the same moment, and all get the same.
pub(crate) fn find_or_make(path: &Path) -> io::Result<[u8; 32]> {
    if let Some(secret) = find(path)? {
        return Ok(secret);
    }
    let folder = Root::open(path.parent().unwrap_or(Path::new("")))?;
    let name = Path::new(path.file_name().unwrap_or_default());
    folder.place_new(name, &make()?, Care::Private)?;
    find(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn find(path: &Path) -> io::Result<Option<[u8; 32]>> {
    match fs::read(path) {
        Ok(bytes) => {
            let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "it has not 32 bytes");
            bytes.try_into().map(Some).map_err(wrong)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What every request must carry. Kept only as a digest.
pub(crate) struct Token(Digest);

impl Token {
    /// Reads the token from a file; the error says what is wrong with it.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let token = text.trim();
        if token.len() < TOKEN_BYTES_MIN {
            return Err(format!("it has fewer than {TOKEN_BYTES_MIN} characters"));
        }
        if !token.bytes().all(|it| it.is_ascii_graphic()) {
            return Err("it has characters that a header cannot carry".to_owned());
        }
        Ok(Self(Digest::of(token.as_bytes())))
    }

    /// Returns whether this is the token. Digests are compared, so how long it takes says nothing
    /// of it.
    pub(crate) fn is(&self, token: &str) -> bool {
        Digest::of(token.trim().as_bytes()) == self.0
    }
}

/// Returns the token that a request's `Authorization` carries.
pub(crate) fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("milepost.key");
        let secret = find_or_make(&path).unwrap();
        assert_eq!(find_or_make(&path).unwrap(), secret);
        assert_ne!(secret, [0; 32]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_secret_that_was_cut_short_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("milepost.key");
        fs::write(&path, "short").unwrap();
        assert_eq!(find_or_make(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn only_the_token_itself_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        let token = Token::read(&path).unwrap();
        let is_carried = |it: &str| bearer(it).is_some_and(|it| token.is(it));
        assert!(is_carried("Bearer 0123456789abcdef"));
        assert!(is_carried("bearer 0123456789abcdef"));
        for other in ["", "Bearer", "Bearer 0123456789abcde", "Basic 0123456789abcdef"] {
            assert!(!is_carried(other), "{other:?}");
        }
        fs::write(&path, "short").unwrap();
        assert!(Token::read(&path).is_err());
    }
}
