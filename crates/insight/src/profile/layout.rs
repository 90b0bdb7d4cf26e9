//! What lies where in a repository, and how its branches are named.

use std::collections::BTreeMap;

use super::Sources;

const CI: [(&str, &str); 9] = [
    (".github/workflows/", "GitHub Actions"),
    (".circleci/", "CircleCI"),
    (".travis.yml", "Travis CI"),
    ("Jenkinsfile", "Jenkins"),
    (".gitlab-ci.yml", "GitLab CI"),
    ("azure-pipelines.yml", "Azure Pipelines"),
    ("bitbucket-pipelines.yml", "Bitbucket Pipelines"),
    (".buildkite/", "Buildkite"),
    (".ci/", "own scripts"),
];

/// Files of checkers, by how their names begin, and whether one a level below counts too.
const LINTERS: [(&str, &str, Reach); 12] = [
    (".golangci.yml", "golangci-lint", Reach::Near),
    (".golangci.yaml", "golangci-lint", Reach::Near),
    (".eslintrc", "eslint", Reach::Root),
    ("eslint.config.", "eslint", Reach::Root),
    ("biome.json", "biome", Reach::Root),
    ("pyproject.toml", "python-linters", Reach::Root),
    (".flake8", "flake8", Reach::Root),
    ("clippy.toml", "clippy", Reach::Root),
    ("rustfmt.toml", "rustfmt", Reach::Root),
    ("checkstyle.xml", "checkstyle", Reach::Root),
    (".rubocop.yml", "rubocop", Reach::Root),
    (".clang-tidy", "clang-tidy", Reach::Root),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Root,
    Near,
}

const FOLDERS: &[(&str, &str)] = &[
    ("api", "interface definitions"),
    ("app", "application code"),
    ("assets", "static files"),
    ("bench", "benchmarks"),
    ("benches", "benchmarks"),
    ("bin", "executables and scripts"),
    ("cmd", "entry points"),
    ("components", "user interface parts"),
    ("config", "configuration"),
    ("crates", "packages"),
    ("deploy", "deployment"),
    ("docs", "documentation"),
    ("examples", "examples"),
    ("fixtures", "test fixtures"),
    ("infra", "infrastructure"),
    ("internal", "private packages"),
    ("lib", "libraries"),
    ("migrations", "database migrations"),
    ("packages", "packages"),
    ("pages", "pages"),
    ("pkg", "public packages"),
    ("proto", "interface definitions"),
    ("public", "static files"),
    ("scripts", "scripts"),
    ("server", "server code"),
    ("services", "services"),
    ("spec", "tests"),
    ("src", "source code"),
    ("test", "tests"),
    ("tests", "tests"),
    ("tools", "tools"),
    ("web", "web front end"),
];

/// Files that each begin a project of their own.
const PROJECTS: [&str; 3] = ["go.mod", "package.json", "Cargo.toml"];
const FOREIGN: [&str; 3] = ["node_modules/", "vendor/", "target/"];

/// Returns what builds the project after each change.
pub(super) fn ci_system(sources: &Sources) -> String {
    let found = CI.iter().find(|(path, _)| sources.has(path));
    found.map(|(_, name)| (*name).to_owned()).unwrap_or_default()
}

/// Returns which checkers are set up, each once.
pub(super) fn linters(sources: &Sources) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (begin, name, reach) in LINTERS {
        let fits = |path: &&String| {
            let file = path.rsplit('/').next().unwrap_or_default();
            file.starts_with(begin) && (reach == Reach::Near || !path.contains('/'))
        };
        if sources.near.iter().any(|it| fits(&it)) && !found.iter().any(|it| it == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// Returns what the folders of the root are for, of those whose names say so.
pub(super) fn folders(sources: &Sources) -> BTreeMap<String, String> {
    let known = FOLDERS.iter().filter(|(name, _)| sources.has(&format!("{name}/")));
    known.map(|(name, purpose)| ((*name).to_owned(), (*purpose).to_owned())).collect()
}

/// Returns how most branches with a prefix are named: `feature/{name}`.
pub(super) fn branch_naming(branches: &[String]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (prefix, _) in branches.iter().filter_map(|it| it.split_once('/')) {
        *counts.entry(prefix).or_default() += 1;
    }
    let best = counts.into_iter().max_by(|(a, one), (b, other)| one.cmp(other).then(b.cmp(a)));
    best.map(|(prefix, _)| format!("{prefix}/{{name}}")).unwrap_or_default()
}

/// Whether a project lies below the root.
pub(super) fn is_monorepo(sources: &Sources) -> bool {
    let is_project = |path: &String| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_own = !FOREIGN.iter().any(|it| format!("{folder}/").contains(it));
        !folder.is_empty() && PROJECTS.contains(&name) && is_own
    };
    sources.tracked.iter().chain(&sources.near).any(is_project)
}

#[cfg(test)]
mod tests {
    use super::{Sources, branch_naming, ci_system, folders, is_monorepo, linters};

    fn sources(near: &[&str]) -> Sources {
        let near = near.iter().map(|it| (*it).to_owned()).collect();
        Sources { near, ..Sources::default() }
    }

    #[test]
    fn what_lies_near_says_what_is_used() {
        let sources = sources(&[
            "docs/",
            "odd/",
            ".github/workflows/",
            "Jenkinsfile",
            "go/.golangci.yaml",
            ".eslintrc.json",
            "go/pyproject.toml",
        ]);
        assert_eq!(ci_system(&sources), "GitHub Actions");
        assert_eq!(linters(&sources), ["golangci-lint", "eslint"]);
        assert_eq!(folders(&sources).keys().collect::<Vec<_>>(), ["docs"]);
        assert_eq!(ci_system(&Sources::default()), "");
    }

    #[test]
    fn branches_are_named_as_most_are() {
        let name = |names: &[&str]| {
            branch_naming(&names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(name(&["main", "fix/a", "feature/a", "feature/b"]), "feature/{name}");
        assert_eq!(name(&["fix/a", "feature/a"]), "feature/{name}");
        assert_eq!(name(&["main"]), "");
    }

    #[test]
    fn a_project_below_the_root_makes_many_of_one() {
        assert!(!is_monorepo(&sources(&["Cargo.toml", "web/node_modules/package.json"])));
        assert!(is_monorepo(&sources(&["web/package.json"])));
        let tracked = vec!["a/b/go.mod".to_owned()];
        assert!(is_monorepo(&Sources { tracked, ..Sources::default() }));
    }
}
