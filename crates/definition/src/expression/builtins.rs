//! The filters and tests that expressions may use: those of minijinja that cannot make much out of
//! little, and a few of our own.

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, filters, tests};

use super::{FUEL, JOINED_BYTES_MAX, to_text};
use crate::Digest;

/// Put after each name that must be set. Users cannot write it: it is not among [`FILTERS`].
pub(super) const SET_FILTER: &str = "_set";
/// The same, for names that must be numbers too.
pub(super) const FACTOR_FILTER: &str = "_factor";

/// Keeps the list of names and the functions together.
macro_rules! builtins {
    ($names:ident, $add_all:ident, $add_one:ident, $($name:literal => $function:expr,)*) => {
        pub(super) const $names: &[&str] = &[$($name),*];

        fn $add_all(environment: &mut Environment<'_>) {
            $(environment.$add_one($name, $function);)*
        }
    };
}

builtins! { FILTERS, add_filters, add_filter,
    "abs" => filters::abs,
    "bool" => filters::bool,
    "count" => filters::length,
    "d" => default,
    "default" => default,
    "files" => files,
    "first" => filters::first,
    "float" => filters::float,
    "int" => filters::int,
    "join" => join,
    "last" => filters::last,
    "length" => filters::length,
    "list" => filters::list,
    "lower" => filters::lower,
    "max" => filters::max,
    "min" => filters::min,
    "sha256" => sha256,
    "string" => filters::string,
    "trim" => filters::trim,
    "upper" => filters::upper,
}

builtins! { TESTS, add_tests, add_test,
    "boolean" => tests::is_boolean,
    "defined" => tests::is_defined,
    "divisibleby" => tests::is_divisibleby,
    "endingwith" => tests::is_endingwith,
    "eq" => tests::is_eq,
    "equalto" => tests::is_eq,
    "even" => tests::is_even,
    "false" => tests::is_false,
    "float" => tests::is_float,
    "ge" => tests::is_ge,
    "greaterthan" => tests::is_gt,
    "gt" => tests::is_gt,
    "in" => tests::is_in,
    "int" => tests::is_integer,
    "integer" => tests::is_integer,
    "iterable" => tests::is_iterable,
    "le" => tests::is_le,
    "lessthan" => tests::is_lt,
    "lower" => tests::is_lower,
    "lt" => tests::is_lt,
    "mapping" => tests::is_mapping,
    "ne" => tests::is_ne,
    "none" => tests::is_none,
    "number" => tests::is_number,
    "odd" => tests::is_odd,
    "sameas" => tests::is_sameas,
    "sequence" => tests::is_sequence,
    "startingwith" => tests::is_startingwith,
    "string" => tests::is_string,
    "true" => tests::is_true,
    "undefined" => tests::is_undefined,
    "upper" => tests::is_upper,
}

/// Makes the environment that everything is compiled and evaluated in.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    // Names are guarded one by one, so this only lets `context.a.b is defined` be false, and
    // `context.a.b|default(1)` be 1, where `context.a` is not set either.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    add_filters(&mut environment);
    add_tests(&mut environment);
    environment.add_filter(SET_FILTER, set);
    environment.add_filter(FACTOR_FILTER, factor);
    environment
}

fn set(value: Value, name: String) -> Result<Value, Error> {
    if value.is_undefined() { Err(Error::new(ErrorKind::UndefinedError, name)) } else { Ok(value) }
}

fn factor(value: Value, name: &str) -> Result<Value, Error> {
    let value = set(value, name.to_owned())?;
    if value.is_number() {
        return Ok(value);
    }
    Err(Error::new(ErrorKind::InvalidOperation, format!("`{name}` is not a number")))
}

/// Names a text by its digest, so that a change of it is seen.
fn sha256(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().to_owned()
}

/// As minijinja's, but what is null counts as not set: JSON has no other word for it.
fn default(value: &Value, other: Option<Value>, lax: Option<bool>) -> Value {
    let is_lacking =
        value.is_undefined() || value.is_none() || (lax.unwrap_or_default() && !value.is_true());
    if is_lacking { other.unwrap_or_else(|| Value::from("")) } else { value.clone() }
}

/// The files of some parts, by their ids, or of all of them: each once, in the order they come.
fn files(parts: &Value, ids: Option<Value>) -> Result<Vec<String>, Error> {
    let wanted: Option<Vec<String>> = match ids {
        Some(ids) => Some(ids.try_iter()?.map(|it| to_text(&it)).collect()),
        None => None,
    };
    let mut found: Vec<String> = Vec::new();
    for part in parts.try_iter()? {
        let id = to_text(&part.get_attr("id")?);
        if wanted.as_ref().is_some_and(|it| !it.contains(&id)) {
            continue;
        }
        for file in part.get_attr("files")?.try_iter()?.map(|it| to_text(&it)) {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    Ok(found)
}

/// As minijinja's, but with a limit: a long text between many items is far longer than both.
fn join(value: &Value, between: Option<String>) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    let mut joined = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            joined.push_str(&between);
        }
        joined.push_str(&to_text(&item));
        if joined.len() > JOINED_BYTES_MAX {
            let reason = format!("`join` gives more than {JOINED_BYTES_MAX} bytes");
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        }
    }
    Ok(joined)
}
