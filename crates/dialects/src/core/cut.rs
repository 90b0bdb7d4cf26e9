//! Keeps answers small: what is larger than a model should read is cut, with a mark where it was.

use serde_json::{Map, Value};

/// How much of a context one answer carries, in bytes of JSON.
const CONTEXT_BYTES_MAX: usize = 64 * 1024;
/// How much of a report one line of a history carries.
const REPORT_BYTES_MAX: usize = 4 * 1024;
/// A value of at most this size is never cut.
const VALUE_BYTES_MIN: usize = 1024;

/// Returns a context that fits into an answer, and what to say if it had to be cut.
pub(super) fn context(
    context: &Map<String, Value>,
    run: &str,
) -> (Map<String, Value>, Option<String>) {
    let (fitting, lost) = fit(context, CONTEXT_BYTES_MAX);
    let warning = (!lost.is_empty()).then(|| {
        let names: Vec<String> = lost.iter().map(|it| format!("`{it}`")).collect();
        let names = names.join(", ");
        format!("cut from the context: {names}; `milepost run show {run} --json` has all of it")
    });
    (fitting, warning)
}

/// Returns a report that fits into a history.
pub(super) fn report(report: &Map<String, Value>) -> Map<String, Value> {
    fit(report, REPORT_BYTES_MAX).0
}

/// Returns `map` with its largest values cut until all of it has at most `max` bytes, and the
/// names of what was cut or left out.
fn fit(map: &Map<String, Value>, max: usize) -> (Map<String, Value>, Vec<String>) {
    let bytes = |it: &Value| serde_json::to_string(it).map_or(0, |it| it.len());
    let mut sizes: Vec<(&String, usize)> =
        map.iter().map(|(name, value)| (name, bytes(value) + name.len())).collect();
    let mut total: usize = sizes.iter().map(|it| it.1).sum();
    if total <= max {
        return (map.clone(), Vec::new());
    }
    sizes.sort_by_key(|it| std::cmp::Reverse(it.1));
    let mut fitting = map.clone();
    let mut lost = Vec::new();
    for (name, size) in sizes {
        if total <= max {
            break;
        }
        lost.push(name.clone());
        total -= size;
        let short = map.get(name).filter(|_| VALUE_BYTES_MIN < size).map(shortened);
        match short.filter(|it| total + it.len() <= max) {
            Some(short) => {
                total += short.len();
                fitting.insert(name.clone(), Value::String(short));
            }
            None => {
                fitting.remove(name);
            }
        }
    }
    lost.sort();
    (fitting, lost)
}

/// The beginning of a value, and how much there is of it.
fn shortened(value: &Value) -> String {
    let whole = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let head = whole.get(..whole.floor_char_boundary(VALUE_BYTES_MIN / 2)).unwrap_or_default();
    format!("{head}… (cut; {} bytes)", whole.len())
}
