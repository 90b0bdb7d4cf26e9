//! How a project is built and tested.

use serde_json::Value;

use super::Sources;

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    Build,
    Test,
}

impl Goal {
    /// The name of the target or script that does it.
    fn word(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Test => "test",
        }
    }
}

/// A file that tells how a project is built, with the commands that build and test it.
struct Tool {
    files: &'static [&'static str],
    build: &'static str,
    test: &'static str,
}

/// What comes after `go.mod` and `package.json`. The first that is there counts.
const TOOLS: &[Tool] = &[
    Tool { files: &["Cargo.toml"], build: "cargo build", test: "cargo test" },
    Tool { files: &["pom.xml"], build: "mvn package", test: "mvn test" },
    Tool {
        files: &["gradlew", "build.gradle", "build.gradle.kts"],
        build: "gradle build",
        test: "gradle test",
    },
    Tool {
        files: &["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py"],
        build: "",
        test: "pytest",
    },
    Tool { files: &["mix.exs"], build: "mix compile", test: "mix test" },
    Tool { files: &["composer.json"], build: "", test: "phpunit" },
    Tool { files: &[".rspec"], build: "", test: "rspec" },
    Tool { files: &["Rakefile"], build: "", test: "rake test" },
    Tool { files: &["Package.swift"], build: "swift build", test: "swift test" },
    Tool { files: &["pubspec.yaml"], build: "", test: "dart test" },
    Tool { files: &["build.sbt"], build: "sbt compile", test: "sbt test" },
    Tool { files: &["build.zig"], build: "zig build", test: "zig build test" },
    Tool { files: &["CMakeLists.txt"], build: "cmake --build build", test: "ctest" },
    Tool { files: &["deno.json", "deno.jsonc"], build: "", test: "deno test" },
];

const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];
const RUNNERS: [&str; 3] = ["vitest", "jest", "mocha"];

/// Returns what the tests are written with.
pub(super) fn test_framework(sources: &Sources) -> String {
    if sources.has_near("go.mod") {
        return "go test".to_owned();
    }
    let package = sources.text("package.json");
    if let Some(runner) = RUNNERS.iter().find(|it| package.contains(**it)) {
        return (*runner).to_owned();
    }
    let tool = find_tool(sources).map(|it| it.test);
    let npm = sources.has("package.json").then_some("npm test");
    tool.or(npm).or_else(|| dotnet(sources, Goal::Test)).unwrap_or_default().to_owned()
}

/// Returns the command that builds or tests the project; nothing where none is known.
pub(super) fn command(sources: &Sources, goal: Goal) -> String {
    make(sources, goal)
        .or_else(|| npm(sources, goal))
        .or_else(|| known(sources, goal).map(ToOwned::to_owned))
        .unwrap_or_default()
}

/// The root's own file of targets comes before those of its folders.
fn make(sources: &Sources, goal: Goal) -> Option<String> {
    let mut found: Vec<(&str, &str)> = sources
        .texts
        .iter()
        .filter(|(path, text)| is_makefile(path) && has_target(text, goal.word()))
        .map(|(path, _)| path.rsplit_once('/').map_or(("", goal.word()), |it| (it.0, goal.word())))
        .collect();
    found.sort_unstable();
    let (folder, target) = found.first()?;
    Some(match *folder {
        "" => format!("make {target}"),
        _ => format!("make -C {folder} {target}"),
    })
}

fn is_makefile(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|it| MAKEFILES.contains(&it))
}

fn has_target(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let (targets, rest) = line.split_once(':').unwrap_or(("", ""));
        let is_rule = !line.starts_with(['\t', ' ', '#', '.']) && !rest.starts_with('=');
        is_rule && targets.split_whitespace().any(|it| it == name)
    })
}

fn npm(sources: &Sources, goal: Goal) -> Option<String> {
    let package: Value = serde_json::from_str(sources.text("package.json")).ok()?;
    package.get("scripts")?.get(goal.word())?.as_str()?;
    Some(match goal {
        Goal::Build => "npm run build".to_owned(),
        Goal::Test => "npm test".to_owned(),
    })
}

fn known(sources: &Sources, goal: Goal) -> Option<&'static str> {
    let go = sources.has("go.mod").then_some(match goal {
        Goal::Build => "go build ./...",
        Goal::Test => "go test ./...",
    });
    let tool = || {
        let tool = find_tool(sources)?;
        Some(match goal {
            Goal::Build => tool.build,
            Goal::Test => tool.test,
        })
    };
    go.or_else(tool).or_else(|| dotnet(sources, goal))
}

fn find_tool(sources: &Sources) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.files.iter().any(|it| sources.has(it)))
}

/// Its files are named as the project is.
fn dotnet(sources: &Sources, goal: Goal) -> Option<&'static str> {
    let is_project =
        |path: &String| [".sln", ".csproj", ".fsproj"].iter().any(|ending| path.ends_with(ending));
    sources.near.iter().any(is_project).then_some(match goal {
        Goal::Build => "dotnet build",
        Goal::Test => "dotnet test",
    })
}

#[cfg(test)]
mod tests {
    use super::{Goal, Sources, command, test_framework};

    fn check(files: &[(&str, &str)], expected: &str) {
        let sources = Sources {
            near: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            texts: files.iter().map(|(path, it)| ((*path).to_owned(), (*it).to_owned())).collect(),
            ..Sources::default()
        };
        let (build, test) = (command(&sources, Goal::Build), command(&sources, Goal::Test));
        let shown = format!("{} | {build} | {test}", test_framework(&sources));
        assert_eq!(shown, expected, "{files:?}");
    }

    #[test]
    fn every_kind_of_project_is_seen() {
        check(&[], " |  | ");
        check(&[("sub/go.mod", "")], "go test |  | ");
        check(&[("go.mod", "")], "go test | go build ./... | go test ./...");
        check(&[("Cargo.toml", "")], "cargo test | cargo build | cargo test");
        check(&[("pom.xml", "")], "mvn test | mvn package | mvn test");
        check(&[("pyproject.toml", "")], "pytest |  | pytest");
        check(&[("App.csproj", "")], "dotnet test | dotnet build | dotnet test");
        let package = r#"{"scripts":{"test":"vitest run"}}"#;
        check(&[("package.json", package)], "vitest |  | npm test");
        let package = r#"{"scripts":{"build":"tsc"}}"#;
        check(&[("package.json", package)], "npm test | npm run build | ");
        check(
            &[("Cargo.toml", ""), ("package.json", "{}")],
            "cargo test | cargo build | cargo test",
        );
    }

    #[test]
    fn targets_of_make_come_first() {
        let text = "build := x\nall: build\n\ntest lint: build\n\tbuild:\n";
        check(&[("Makefile", text), ("Cargo.toml", "")], "cargo test | cargo build | make test");
        let text = "build: x\n\ttouch y\n";
        check(&[("b/Makefile", text), ("a/Makefile", text)], " | make -C a build | ");
    }
}
