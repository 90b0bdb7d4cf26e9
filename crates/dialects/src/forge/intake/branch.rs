//! Names of branches and titles of pull requests: the kind of change, and the name of the spec.

use super::slug::spec_name;

/// How long a branch may be after its kind, in bytes.
const BYTES_MAX: usize = 60;
/// The kind of a change that nothing is known of.
const FEATURE: &str = "feature";

/// The kinds of change, and the words that each is told by. The first that has one counts. Words of
/// ASCII letters alone must stand alone; others are found within words too, as there are languages
/// that do not part them.
const KINDS: [(&str, &[&str]); 4] = [
    (
        "fix",
        &[
            "bug",
            "bugs",
            "fix",
            "fixes",
            "defect",
            "defects",
            "hotfix",
            "hotfixes",
            "bugfix",
            "bugfixes",
            "バグ",
            "修正",
            "不具合",
            "障害",
            "fehler",
            "correctif",
            "bogue",
        ],
    ),
    (
        "refactor",
        &[
            "refactor",
            "refactors",
            "refactoring",
            "restructure",
            "restructures",
            "restructuring",
            "reorganize",
            "reorganizes",
            "reorganizing",
            "リファクタ",
            "再構成",
            "構造改善",
            "refaktorierung",
            "umstrukturierung",
            "refactorisation",
            "restructuration",
        ],
    ),
    (
        "docs",
        &[
            "documentation",
            "readme",
            "readmes",
            "docs",
            "ドキュメント",
            "文書",
            "資料",
            "dokumentation",
        ],
    ),
    (
        "chore",
        &[
            "dependency",
            "dependencies",
            "upgrade",
            "upgrades",
            "migration",
            "migrations",
            "config",
            "configs",
            "configuration",
            "依存",
            "アップグレード",
            "移行",
            "設定",
            "abhängigkeit",
            "dépendance",
        ],
    ),
];

/// Returns which kind of change a text speaks of: the prefix of its branch.
pub fn classify(text: &str) -> &'static str {
    let text = text.to_lowercase();
    let kind = KINDS.iter().find(|(_, words)| words.iter().any(|it| has_word(&text, it)));
    kind.map_or(FEATURE, |it| it.0)
}

/// Returns the branch for a spec whose request is `text`.
pub fn branch_name(spec: &str, text: &str) -> String {
    format!("{}/{}", classify(text), cut(&plain(spec_name(spec))))
}

/// Returns the branch for a spec whose work is a copy of that on another branch.
pub fn branch_of_copy(branch: &str, spec: &str) -> String {
    let kind = branch.split_once('/').map_or(FEATURE, |it| it.0);
    let named = format!("{kind}/{}", cut(&plain(spec_name(spec))));
    // Specs of two days may have one name.
    if named == branch { format!("{kind}/{}", cut(&plain(spec))) } else { named }
}

/// Returns the title of the pull request of a branch.
pub fn pr_title(branch: &str, spec: &str) -> String {
    let kind = branch.split_once('/').map_or("", |it| it.0);
    let kind = KINDS.iter().find(|it| it.0 == kind).map_or("feat", |it| it.0);
    format!("{kind}: {}", spec_name(spec).replace('-', " "))
}

fn has_word(text: &str, word: &str) -> bool {
    if !word.bytes().all(|it| it.is_ascii_alphabetic()) {
        return text.contains(word);
    }
    let is_part = |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    text.match_indices(word).any(|(start, _)| {
        let bytes = text.as_bytes();
        let before = start.checked_sub(1).and_then(|it| bytes.get(it));
        !is_part(before) && !is_part(bytes.get(start + word.len()))
    })
}

/// Leaves only what git takes in a name.
fn plain(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    name.to_lowercase().chars().map(|it| if is_plain(it) { it } else { '-' }).collect()
}

/// Cuts a long name after a whole word.
fn cut(name: &str) -> &str {
    let Some(head) = name.get(..BYTES_MAX).filter(|it| it.len() < name.len()) else { return name };
    head.rsplit_once('-').map_or(head, |it| it.0)
}

#[cfg(test)]
mod tests {
    use super::{branch_name, branch_of_copy, classify, pr_title};

    #[test]
    fn the_kind_of_change_is_told_by_words_that_stand_alone() {
        for (text, kind) in [
            ("Fix the login", "fix"),
            ("a BUG.", "fix"),
            ("prefix of debugging", "feature"),
            ("fix_me", "feature"),
            ("éfixé", "fix"),
            ("ログインのバグ", "fix"),
            ("refactoring, then docs", "refactor"),
            ("update the README", "docs"),
            ("Abhängigkeiten", "chore"),
            ("dependencies", "chore"),
            ("", "feature"),
            ("add a page", "feature"),
        ] {
            assert_eq!(classify(text), kind, "{text}");
        }
    }

    #[test]
    fn a_copy_has_a_branch_of_its_own_and_of_the_same_kind() {
        assert_eq!(branch_of_copy("fix/x", "20260202-y"), "fix/y");
        assert_eq!(branch_of_copy("fix/x", "20260202-x"), "fix/20260202-x");
        assert_eq!(branch_of_copy("main", "20260202-y"), "feature/y");
    }

    #[test]
    fn branches_are_named_after_the_spec() {
        assert_eq!(branch_name("20270101-eng-7-broken-page", "x"), "feature/eng-7-broken-page");
        assert_eq!(branch_name("My Feature~1", "a bug"), "fix/my-feature-1");
        let long = format!("{}-{}", "a".repeat(50), "b".repeat(30));
        assert_eq!(branch_name(&long, ""), format!("feature/{}", "a".repeat(50)));
        assert_eq!(branch_name(&"a".repeat(80), ""), format!("feature/{}", "a".repeat(60)));
        let exact = format!("{}-{}", "a".repeat(29), "b".repeat(30));
        assert_eq!(branch_name(&exact, ""), format!("feature/{exact}"));
    }

    #[test]
    fn titles_name_the_kind_of_change() {
        assert_eq!(pr_title("fix/login-page", "20260101-login-page"), "fix: login page");
        assert_eq!(pr_title("docs/x", "x"), "docs: x");
        assert_eq!(pr_title("feature/x-y", "x-y"), "feat: x y");
        assert_eq!(pr_title("main", "x"), "feat: x");
    }
}
