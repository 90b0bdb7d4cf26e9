//! SHA-256 digests: of definitions, of what a gate showed, of requests.

use sha2::{Digest as _, Sha256};

use serde::{Deserialize, Serialize};

/// A SHA-256 digest, as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(String);

impl Digest {
    /// Digests one run of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// Reads a digest back from its 64 digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.len() == 64 && text.bytes().all(|it| it.is_ascii_hexdigit());
        is_hex.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first digits, enough for a person to tell two apart.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// Digests several fields. Each is preceded by its length, so that no two lists of fields run
/// together into the same bytes.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds a field.
    #[must_use]
    pub fn field(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Returns the digest of all fields so far.
    pub fn finish(self) -> Digest {
        Digest(hex(&self.0.finalize()))
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}
