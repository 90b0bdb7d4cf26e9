//! What differs between two texts, line by line, as people are used to read it.

use super::{BOLD, DIFF_LESS, GOOD, NAME, text};

/// How many lines that stay the same are shown around a change.
const AROUND: usize = 3;
/// How many pairs of lines are compared before all is taken as replaced.
const PAIRS_MAX: usize = 4_000_000;

/// What became of a line: it is known by its index before, after, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Same(usize, usize),
    Gone(usize),
    New(usize),
}

/// Returns a text in lines, each with its end.
pub(crate) fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns what became of each line, in order: what is gone comes before what is new.
pub(crate) fn fates(before: &[&str], after: &[&str]) -> Vec<Fate> {
    let pairs = before.iter().zip(after);
    let head = pairs.take_while(|(one, other)| one == other).count();
    let rest = (before.len() - head).min(after.len() - head);
    let pairs = before.iter().rev().zip(after.iter().rev());
    let tail = pairs.take(rest).take_while(|(one, other)| one == other).count();
    let old = before.get(head..before.len() - tail).unwrap_or_default();
    let new = after.get(head..after.len() - tail).unwrap_or_default();
    let mut fates: Vec<Fate> = (0..head).map(|it| Fate::Same(it, it)).collect();
    fates.extend(middle(old, new).into_iter().map(|it| match it {
        Fate::Same(one, other) => Fate::Same(one + head, other + head),
        Fate::Gone(one) => Fate::Gone(one + head),
        Fate::New(other) => Fate::New(other + head),
    }));
    let ends = (0..tail).map(|it| Fate::Same(before.len() - tail + it, after.len() - tail + it));
    fates.extend(ends);
    fates
}

/// Keeps the longest sequence of lines that both have.
fn middle(old: &[&str], new: &[&str]) -> Vec<Fate> {
    let mut fates = Vec::new();
    let (mut one, mut other) = (0, 0);
    if old.len().saturating_mul(new.len()) <= PAIRS_MAX {
        let lengths = common_lengths(old, new);
        let length = |one: usize, other: usize| lengths.get(one).and_then(|it| it.get(other));
        while let (Some(line), Some(line_new)) = (old.get(one), new.get(other)) {
            if line == line_new {
                fates.push(Fate::Same(one, other));
                (one, other) = (one + 1, other + 1);
            } else if length(one, other + 1) <= length(one + 1, other) {
                fates.push(Fate::Gone(one));
                one += 1;
            } else {
                fates.push(Fate::New(other));
                other += 1;
            }
        }
    }
    fates.extend((one..old.len()).map(Fate::Gone));
    fates.extend((other..new.len()).map(Fate::New));
    fates
}

/// Returns for each pair of places how many lines both have in common from there on.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut rows = vec![vec![0; new.len() + 1]];
    for line in old.iter().rev() {
        let below = rows.last().cloned().unwrap_or_default();
        let mut row = vec![0];
        for (other, line_new) in new.iter().enumerate().rev() {
            let right = row.last().copied().unwrap_or_default();
            let under = below.get(other).copied().unwrap_or_default();
            let across = below.get(other + 1).copied().unwrap_or_default();
            row.push(if line == line_new { across + 1 } else { right.max(under) });
        }
        row.reverse();
        rows.push(row);
    }
    rows.reverse();
    rows
}

/// Returns the difference as `diff -u` writes it: nothing where there is none.
pub(crate) fn unified(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let old = split(before.unwrap_or_default());
    let new = split(after.unwrap_or_default());
    let fates = fates(&old, &new);
    let is_changed = |it: &Fate| !matches!(it, Fate::Same(..));
    let changed: Vec<usize> =
        fates.iter().enumerate().filter(|it| is_changed(it.1)).map(|it| it.0).collect();
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for at in changed {
        let end = (at + AROUND + 1).min(fates.len());
        match hunks.last_mut() {
            Some(last) if at <= last.1 + AROUND => last.1 = end,
            _ => hunks.push((at.saturating_sub(AROUND), end)),
        }
    }
    if hunks.is_empty() {
        return String::new();
    }
    let side = |is_there: bool| if is_there { name } else { "/dev/null" };
    let mut text = format!("--- {}\n+++ {}\n", side(before.is_some()), side(after.is_some()));
    for (start, end) in hunks {
        let earlier = fates.get(..start).unwrap_or_default();
        let own = fates.get(start..end).unwrap_or_default();
        text.push_str(&head(earlier, own));
        for fate in own {
            let (mark, line) = match fate {
                Fate::Same(at, _) => (' ', old.get(*at)),
                Fate::Gone(at) => ('-', old.get(*at)),
                Fate::New(at) => ('+', new.get(*at)),
            };
            let line = line.copied().unwrap_or_default();
            let shown = line.trim_end_matches(['\n', '\r']);
            text.push_str(&format!("{mark}{shown}\n"));
            if !line.ends_with('\n') {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// Returns the line that says where a part of the difference is.
fn head(earlier: &[Fate], own: &[Fate]) -> String {
    let in_old = |fates: &[Fate]| fates.iter().filter(|it| !matches!(it, Fate::New(_))).count();
    let in_new = |fates: &[Fate]| fates.iter().filter(|it| !matches!(it, Fate::Gone(_))).count();
    let range = |before: usize, count: usize| match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        _ => format!("{},{count}", before + 1),
    };
    let old = range(in_old(earlier), in_old(own));
    let new = range(in_new(earlier), in_new(own));
    format!("@@ -{old} +{new} @@\n")
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

    #[test]
    fn lines_that_both_have_are_kept() {
        let fates = fates(&["a", "x", "b", "c"], &["a", "b", "y", "c"]);
        let expected =
            [Fate::Same(0, 0), Fate::Gone(1), Fate::Same(2, 1), Fate::New(2), Fate::Same(3, 3)];
        assert_eq!(fates, expected);
    }
}
