//! Front matter: YAML between a first line `---` and the next line `---`.

/// Cuts the front matter off a text, and returns it with the rest. The lines of the YAML keep their
/// numbers, because an empty one stands in for the opening `---`.
pub(super) fn split(text: &str) -> (Option<String>, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|it| is_mark(it) && it.ends_with('\n')) else {
        return (None, text);
    };
    let mut end = first.len();
    for line in lines {
        if is_mark(line) {
            let yaml = text.get(first.len()..end).unwrap_or_default();
            let rest = text.get(end + line.len()..).unwrap_or_default();
            return (Some(format!("\n{yaml}")), rest);
        }
        end += line.len();
    }
    (None, text)
}

fn is_mark(line: &str) -> bool {
    line.trim_end() == "---"
}
