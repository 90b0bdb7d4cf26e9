//! What a value means to a toolset that would rather take a default than refuse: `"12"` and `12.9`
//! are 12, `"yes"` and 3 are true, and what cannot be read at all is as good as nothing.

use serde_json::{Map, Value};

use super::{limits, plain};

/// What became of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coerced {
    /// It is what is wanted, or anyone who checks it next may say that it is not.
    Kept,
    /// It says nothing that is wanted.
    Dropped,
}

/// Makes of a value what is wanted by the type of its shape, if it says that and fits.
pub(super) fn read(shape: &Value, value: &mut Value) -> Coerced {
    let kind = shape.get("type").and_then(Value::as_str).unwrap_or_default();
    let read = match kind {
        "boolean" => find_bool(value).map(Value::Bool),
        "integer" => find_whole(value).map(Value::from),
        "number" => find_number(value),
        "string" => value.is_string().then(|| value.take()),
        _ => return Coerced::Kept,
    };
    // A count below zero says as little as one that is not a number.
    let fits = |it: &Value| it.as_number().is_none_or(|it| limits::of_number(shape, it).is_none());
    let Some(read) = read.filter(fits) else { return Coerced::Dropped };
    *value = read;
    Coerced::Kept
}

/// Returns what a number or a yes or no is that must be there and is not.
pub(super) fn default(kind: &str) -> Option<Value> {
    match kind {
        "boolean" => Some(Value::Bool(false)),
        "integer" | "number" => Some(Value::from(0)),
        _ => None,
    }
}

/// Gives what must be there and is not its default, where there is one.
pub(super) fn fill(
    properties: &Map<String, Value>,
    required: &[&str],
    object: &mut Map<String, Value>,
) {
    for name in required {
        let kind = properties.get(*name).and_then(|it| it.get("type")).and_then(Value::as_str);
        if let Some(default) = kind.and_then(default)
            && !object.contains_key(*name)
        {
            object.insert((*name).to_owned(), default);
        }
    }
}

fn find_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|it| it.abs() != 0.0),
        Value::String(_) => plain::find_bool(value),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn find_whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| truncated(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a float without its fraction, if the largest whole number is not smaller.
fn truncated(float: f64) -> Option<i64> {
    format!("{:.0}", float.trunc()).parse().ok()
}

fn find_number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(_) => plain::find_number(value).map(Value::Number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Coerced, read};

    #[track_caller]
    fn check(kind: &str, mut value: Value, expected: Option<Value>) {
        let shown = value.to_string();
        let shape = json!({ "type": kind });
        let is_kept = read(&shape, &mut value) == Coerced::Kept;
        let is_expected = expected.is_some();
        assert_eq!(is_kept, is_expected, "{kind} {shown}");
        assert!(expected.is_none_or(|it| it == value), "{kind} {shown}");
    }

    #[test]
    fn whole_numbers_come_from_numbers_and_texts() {
        check("integer", json!(7), Some(json!(7)));
        check("integer", json!(7.9), Some(json!(7)));
        check("integer", json!(-7.9), Some(json!(-7)));
        check("integer", json!(" 12 "), Some(json!(12)));
        check("integer", json!(1e18), Some(json!(1_000_000_000_000_000_000_i64)));
        for nothing in
            [json!("12.5"), json!("x"), json!(true), json!(null), json!([1]), json!(1e300)]
        {
            check("integer", nothing, None);
        }
        check("number", json!("1.5"), Some(json!(1.5)));
        check("number", json!("x"), None);
    }

    #[test]
    fn a_number_below_what_it_may_be_is_as_good_as_none() {
        let shape = json!({ "type": "integer", "minimum": 0 });
        for (mut value, expected) in [
            (json!(-1), Coerced::Dropped),
            (json!("-1"), Coerced::Dropped),
            (json!(-0.5), Coerced::Kept),
            (json!(0), Coerced::Kept),
        ] {
            assert_eq!(read(&shape, &mut value), expected, "{value}");
        }
    }

    #[test]
    fn yes_and_no_come_from_words_and_numbers() {
        for yes in [json!(true), json!("true"), json!("T"), json!("Yes"), json!(1), json!(-0.5)] {
            check("boolean", yes, Some(json!(true)));
        }
        for no in [json!(false), json!("FALSE"), json!("0"), json!(0), json!(0.0)] {
            check("boolean", no, Some(json!(false)));
        }
        check("boolean", json!("perhaps"), None);
        check("boolean", json!({}), None);
    }

    #[test]
    fn texts_stay_texts_and_containers_are_left_alone() {
        check("string", json!(" a "), Some(json!(" a ")));
        check("string", json!(1), None);
        check("object", json!(1), Some(json!(1)));
    }
}
