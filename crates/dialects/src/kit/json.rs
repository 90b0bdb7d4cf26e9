//! JSON that keeps its keys in the order in which they were written.
//!
//! A state file is shared with people and agents who write it by hand: what they wrote stays where
//! they put it.

use std::{collections::HashMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::{Number, Value};

/// Any JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Self>),
    Object(Object),
}

/// Keys and values, in their order. Each key is there once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    entries: Vec<(String, Json)>,
}

impl Json {
    /// Reads a text. Nesting is bounded by the reader.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Writes it with two spaces of indentation, and no line break at the end.
    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).expect("its keys are text and its numbers JSON has")
    }

    /// Writes it in one line.
    pub fn compact(&self) -> String {
        serde_json::to_string(self).expect("its keys are text and its numbers JSON has")
    }

    /// Returns the text that it is.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the object that it is.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Returns the list that it is.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// Returns the number that it is.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// Returns a count: a whole number from 0 up, also one that is written as `2.0`.
    pub fn as_count(&self) -> Option<u64> {
        let Self::Number(number) = self else { return None };
        let whole = |it: f64| (it.fract().abs() < f64::EPSILON).then(|| format!("{it:.0}"));
        number.as_u64().or_else(|| number.as_f64().and_then(whole)?.parse().ok())
    }

    /// Whether it is nothing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the object that it is, which it becomes if it was something else.
    pub fn make_object(&mut self) -> &mut Object {
        if !matches!(self, Self::Object(_)) {
            *self = Self::Object(Object::default());
        }
        let Self::Object(object) = self else { unreachable!("it was just made an object") };
        object
    }

    /// Returns the list that it is, which it becomes if it was something else.
    pub fn make_list(&mut self) -> &mut Vec<Self> {
        if !matches!(self, Self::List(_)) {
            *self = Self::List(Vec::new());
        }
        let Self::List(items) = self else { unreachable!("it was just made a list") };
        items
    }
}

impl Object {
    /// Returns one without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.entries.iter().find(|it| it.0 == key).map(|it| &it.1)
    }

    /// Returns the value of a key, to be changed in its place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.entries.iter_mut().find(|it| it.0 == key).map(|it| &mut it.1)
    }

    /// Sets a key where it is, or adds it at the end.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        *self.entry(key) = value.into();
    }

    /// Removes a key, and returns what it had.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.entries.iter().position(|it| it.0 == key)?;
        Some(self.entries.remove(at).1)
    }

    /// Returns the value of a key, which is added as null at the end if it is not there.
    pub fn entry(&mut self, key: &str) -> &mut Json {
        let at = self.entries.iter().position(|it| it.0 == key).unwrap_or_else(|| {
            self.entries.push((key.to_owned(), Json::Null));
            self.entries.len() - 1
        });
        let entry = self.entries.get_mut(at);
        &mut entry.expect("it was found or added").1
    }

    /// Adds a key behind another one, or at the end if that one is not there.
    pub fn set_after(&mut self, before: &str, key: &str, value: impl Into<Json>) {
        self.remove(key);
        let at = self.entries.iter().position(|it| it.0 == before);
        let at = at.map_or(self.entries.len(), |it| it + 1);
        self.entries.insert(at, (key.to_owned(), value.into()));
    }

    /// Gives a key another name, in its place. What had that name before is gone.
    pub fn rename(&mut self, from: &str, to: &str) {
        if self.get(from).is_none() || from == to {
            return;
        }
        self.entries.retain(|it| it.0 != to);
        if let Some(entry) = self.entries.iter_mut().find(|it| it.0 == from) {
            to.clone_into(&mut entry.0);
        }
    }

    /// Returns keys and values, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl<K: Into<String>, V: Into<Json>> FromIterator<(K, V)> for Object {
    /// Of equal keys the first has the place and the last the value.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut kept: Vec<(String, Json)> = Vec::new();
        // Looked up here and not in the list, so that many keys do not take forever.
        let mut places: HashMap<String, usize> = HashMap::new();
        for (key, value) in entries {
            let (key, value) = (key.into(), value.into());
            match places.get(&key).and_then(|it| kept.get_mut(*it)) {
                Some(entry) => entry.1 = value,
                None => {
                    places.insert(key.clone(), kept.len());
                    kept.push((key, value));
                }
            }
        }
        Self { entries: kept }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(entries) => Self::Object(entries.into_iter().collect()),
        }
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        value.clone().into()
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<Vec<Self>> for Json {
    fn from(items: Vec<Self>) -> Self {
        Self::List(items)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u8> for Json {
    fn from(number: u8) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

/// A number that JSON does not have becomes null.
impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len()))?;
        for (key, value) in &self.entries {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut all: Vec<(String, Json)> = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            all.push(entry);
        }
        Ok(Json::Object(all.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn check(text: &str) {
        assert_eq!(Json::parse(text).unwrap().render(), text);
    }

    #[test]
    fn what_was_written_is_written_again_as_it_was() {
        check(
            "{\n  \"b\": 1,\n  \"a\": [\n    1.5,\n    -2,\n    null,\n    true\n  ],\n  \"в\": {}\n}",
        );
        check("18446744073709551615");
        check("\"Башня Книжников\"");
        check("45.0");
    }

    #[test]
    fn the_last_of_two_equal_keys_wins() {
        assert_eq!(
            Json::parse("{\"a\": 1, \"b\": 2, \"a\": 3}").unwrap().render(),
            "{\n  \"a\": 3,\n  \"b\": 2\n}"
        );
    }

    #[test]
    fn endless_nesting_is_no_json() {
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }
}
