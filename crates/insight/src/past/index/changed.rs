//! Which files a report of done work names.

const FILES_MAX: usize = 5;
const HEADINGS: [&str; 4] =
    ["files modified", "files created", "files created or modified", "files created and modified"];

/// Returns the first heading of the highest rank.
pub(super) fn title(text: &str) -> &str {
    text.lines().find_map(|it| it.strip_prefix("# ")).unwrap_or_default().trim()
}

/// Returns the first paths of the list of changed files.
pub(super) fn files(text: &str, root: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut files = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim().trim_end_matches(':');
            is_inside = HEADINGS.contains(&heading.to_lowercase().as_str());
        } else if is_inside && files.len() < FILES_MAX {
            files.extend(path(line).map(|it| inside(it, root)));
        }
    }
    files
}

/// Returns the path of a line of a list: what stands in back-ticks, else the first word if it looks
/// like one.
fn path(line: &str) -> Option<&str> {
    let line = line.trim();
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?.trim_start();
    if let Some(quoted) = item.split('`').nth(1).filter(|it| !it.trim().is_empty()) {
        return Some(quoted.trim());
    }
    if item.starts_with("**") {
        return None;
    }
    let word = item.split_whitespace().next()?.trim_end_matches([':', ',', ';']);
    (word.contains('/') || has_ending(word)).then_some(word)
}

fn has_ending(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && !ending.is_empty() && ending.chars().all(char::is_alphanumeric)
    })
}

/// Returns a path as seen from the project.
fn inside(path: &str, root: &str) -> String {
    let root = root.trim_end_matches('/');
    let rest = path.strip_prefix(root).and_then(|it| it.strip_prefix('/'));
    rest.filter(|_| !root.is_empty()).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{files, title};

    #[test]
    fn paths_are_taken_from_the_list() {
        let text = "# Task 1: cache\n- not/here.rs\n## Files Modified\n- `src/cache.rs` - new\n- \
                    **bold/x.rs**\n- src/lib.rs — edit\n- README.md\n- words only\n* see `/p/a b.rs`\n\
                    ## Notes\n- src/later.rs\n";
        assert_eq!(title(text), "Task 1: cache");
        assert_eq!(files(text, "/p"), ["src/cache.rs", "src/lib.rs", "README.md", "a b.rs"]);
    }

    #[test]
    fn a_long_list_is_cut() {
        let text = format!("### Files created or modified:\n{}", "- a/b.rs\n".repeat(9));
        assert_eq!(files(&text, "").len(), 5);
    }
}
