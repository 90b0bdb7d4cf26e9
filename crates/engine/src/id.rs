//! The id of a run: a `UUIDv7`, minted by anyone who owns the clock and chance.
//!
//! People and models see the short form (`run_` and 26 letters of Crockford's base 32), the
//! `instance_id` of the tools is the hyphenated form. Both are read everywhere.

use alloc::{format, string::String};
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const PREFIX: &str = "run_";

/// The id of a run.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId([u8; 16]);

impl RunId {
    /// Takes the 16 bytes of a UUID.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the short form, `run_01k…`.
    pub fn short(&self) -> String {
        let mut rest = u128::from_be_bytes(self.0);
        let mut letters = [b'0'; 26];
        for letter in letters.iter_mut().rev() {
            // The low five bits are below 32, so a letter is always found.
            let digit = usize::try_from(rest & 31).unwrap_or_default();
            *letter = LETTERS.get(digit).copied().unwrap_or(b'0');
            rest >>= 5;
        }
        let text: String = letters.iter().map(|it| char::from(*it)).collect();
        format!("{PREFIX}{text}")
    }

    /// Reads either form.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(PREFIX) {
            Some(letters) => parse_short(letters),
            None => parse_hyphenated(text),
        }
    }

    /// Returns whether a text could be taken for an id, or for the beginning of one. Every id begins
    /// with a zero; few digits are a number that people give.
    pub(crate) fn is_like(text: &str) -> bool {
        const DIGITS_MIN: usize = 8;
        let digits: String = text.chars().filter(|it| *it != '-').collect();
        let is_hex = digits.chars().all(|it| it.is_ascii_hexdigit());
        let is_long = DIGITS_MIN <= digits.len() && digits.starts_with('0');
        text.to_lowercase().starts_with(PREFIX) || is_hex && is_long
    }

    /// Returns the smallest and the largest id that begins with `text`, in whichever form it is
    /// written; `None` if no id can.
    pub fn parse_prefix(text: &str) -> Option<(Self, Self)> {
        if let Some(letters) = text.strip_prefix(PREFIX) {
            let fill = |letter: char| -> String {
                letters.chars().chain(core::iter::repeat(letter)).take(26).collect()
            };
            return Some((parse_short(&fill('0'))?, parse_short(&fill('z'))?));
        }
        let digits: String = text.chars().filter(|it| *it != '-').collect();
        let fill = |digit: char| -> String {
            digits.chars().chain(core::iter::repeat(digit)).take(32).collect()
        };
        Some((parse_hex(&fill('0'))?, parse_hex(&fill('f'))?))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                out.write_str("-")?;
            }
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a run's id"))
    }
}

fn parse_short(letters: &str) -> Option<RunId> {
    if letters.len() != 26 {
        return None;
    }
    let mut value: u128 = 0;
    for letter in letters.bytes() {
        let letter = letter.to_ascii_lowercase();
        let digit = LETTERS.iter().position(|it| *it == letter)?;
        // 26 letters hold 130 bits; the first must not use the two that do not exist.
        value = value.checked_mul(32)?.checked_add(u128::try_from(digit).ok()?)?;
    }
    Some(RunId(value.to_be_bytes()))
}

fn parse_hyphenated(text: &str) -> Option<RunId> {
    let is_shaped = text.len() == 36
        && [8, 13, 18, 23].iter().all(|index| text.as_bytes().get(*index) == Some(&b'-'));
    if !is_shaped {
        return None;
    }
    let digits: String = text.chars().filter(|it| *it != '-').collect();
    parse_hex(&digits)
}

fn parse_hex(digits: &str) -> Option<RunId> {
    let is_hex = digits.len() == 32 && digits.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_hex {
        return None;
    }
    u128::from_str_radix(digits, 16).ok().map(|value| RunId(value.to_be_bytes()))
}
