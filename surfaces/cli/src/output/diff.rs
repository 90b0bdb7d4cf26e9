//! What differs between two texts, line by line, as people are used to read it.

use similar::{
    DiffOp,
    algorithms::{Capture, Compact, Replace, myers},
    group_diff_ops,
    udiff::UnifiedHunkHeader,
};

use super::{BOLD, DIFF_LESS, GOOD, NAME, text};

/// How many lines that stay the same are shown around a change.
const AROUND: usize = 3;

/// Returns a text in lines, each with its end.
pub(crate) fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns which lines stay, go and come, in order.
pub(crate) fn compare(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    // `TextDiff` would do this too, but it brings all algorithms: 700 KiB more in the binary.
    let mut found = Compact::new(Replace::new(Capture::new()), before, after);
    let Ok(()) = myers::diff(&mut found, before, 0..before.len(), after, 0..after.len());
    found.into_inner().into_inner().into_ops()
}

/// Returns the difference as `diff -u` writes it: nothing where there is none.
pub(crate) fn unified(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let (old, new) = (split(before.unwrap_or_default()), split(after.unwrap_or_default()));
    if old == new {
        return String::new();
    }
    let side = |text: Option<&str>| if text.is_some() { name } else { "/dev/null" };
    let mut text = format!("--- {}\n+++ {}\n", side(before), side(after));
    for hunk in group_diff_ops(compare(&old, &new), AROUND) {
        text.push_str(&format!("{}\n", UnifiedHunkHeader::new(&hunk)));
        for change in hunk.iter().flat_map(|it| it.iter_changes(&*old, &*new)) {
            let line = change.value();
            let shown = line.trim_end_matches(['\n', '\r']);
            text.push_str(&format!("{}{shown}\n", change.tag()));
            if !line.ends_with('\n') {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// Returns a difference in colours, without anything that a terminal would obey.
pub(crate) fn painted(diff: &str) -> String {
    let mut painted = String::new();
    for line in diff.lines() {
        let clean = text::lines(line);
        let style = match line.chars().next() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => BOLD,
            Some('+') => GOOD,
            Some('-') => DIFF_LESS,
            Some('@') => NAME,
            Some(_) | None => {
                painted.push_str(&format!("{clean}\n"));
                continue;
            }
        };
        painted.push_str(&format!("{style}{clean}{style:#}\n"));
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_written_as_people_know_it() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        let after = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nnew\nk\n";
        let expected =
            "--- f\n+++ f\n@@ -2,10 +2,11 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n i\n j\n+new\n k\n";
        assert_eq!(unified("f", Some(before), Some(after)), expected);
        assert_eq!(unified("f", Some(before), Some(before)), "");
        let made = "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
        assert_eq!(unified("f", None, Some("x")), made);
        let gone = "--- f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n";
        assert_eq!(unified("f", Some("x\ny\n"), None), gone);
    }

    #[test]
    fn parts_that_lie_apart_are_shown_apart() {
        let before: String = (0..40).map(|it| format!("{it}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
        let shown = unified("f", Some(&before), Some(&after));
        assert!(
            shown.contains("@@ -3,7 +3,7 @@") && shown.contains("@@ -28,7 +28,6 @@"),
            "{shown}"
        );
    }
}
