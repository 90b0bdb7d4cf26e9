//! Which workflows are found: folders, and graphs in YAML files. Acceptance scenario B15 of the
//! dev-workflow specification.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use definition::Form;
use runtime::{Found, World as _};
use tempfile::TempDir;
use world::{RealWorld, WorldSettings};

fn graph(name: &str) -> String {
    format!(
        "name: {name}\ndescription: D.\nworkflow:\n  goal: G.\n  root: a\n  tree:\n    a:\n      goal: A.\n"
    )
}

struct Stage {
    folder: TempDir,
    world: RealWorld,
}

impl Stage {
    /// Folders of definitions called `one` and `two`.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dirs = ["one", "two"].map(|it| folder.path().join(it));
        dirs.iter().for_each(|it| fs::create_dir(it).unwrap());
        let settings = WorldSettings {
            workflow_dirs: dirs.to_vec(),
            has_builtin: false,
            ..WorldSettings::default()
        };
        let stage = Self { folder, world: RealWorld::new(settings) };
        for (path, text) in files {
            stage.write(path, text);
        }
        stage
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What is found: its name, where it is, and whether it can be used.
    fn found(&self) -> Vec<String> {
        let place = |it: &Found| {
            let origin = Path::new(&it.origin).file_name().unwrap().to_str().unwrap();
            it.file.as_ref().map_or_else(|| origin.to_owned(), |file| format!("{origin}/{file}"))
        };
        let tell = |it: &Found| match it.read() {
            Ok(workflow) => {
                assert_eq!(workflow.name, it.name);
                format!("{} in {}", it.name, place(it))
            }
            Err(error) => format!("{} in {}: {error}", it.name, place(it)),
        };
        self.world.find_workflows().iter().map(tell).collect()
    }
}

#[test]
fn graphs_are_found_by_the_names_they_have() {
    let stage = Stage::new(&[
        ("one/a.yaml", &graph("Alpha Flow")),
        ("one/b.yml", &graph("Beta")),
        ("one/broken.yaml", "name: [\n"),
        ("one/notes.txt", "x"),
        ("one/.hidden.yaml", &graph("Hidden")),
        (
            "one/dangling.yaml",
            &graph("Dangling").replace("goal: A.", "goal: A.\n      next_allowed_nodes: [x]"),
        ),
        ("one/folder/graph.yaml", &graph("Whatever")),
        ("one/nameless.yaml", &graph("''")),
    ]);
    assert_eq!(
        stage.found(),
        [
            "Alpha Flow in one/a.yaml",
            "Beta in one/b.yml",
            "Dangling in one/dangling.yaml: dangling.yaml:9:28: Node 'a' references non-existent node 'x' (known: `a`)",
            "broken.yaml in one/broken.yaml: broken.yaml:1:7: a graph is not YAML: unclosed bracket '['",
            "folder in one",
            "nameless.yaml in one/nameless.yaml: nameless.yaml:1:7: Workflow name is required",
        ]
    );
}

#[test]
fn two_with_one_name_are_both_refused() {
    let stage = Stage::new(&[
        ("one/a.yaml", &graph("Same")),
        ("one/b.yaml", &graph("Same")),
        ("one/c.yaml", &graph("Other")),
        ("one/Other/graph.yaml", &graph("Other")),
    ]);
    assert_eq!(
        stage.found(),
        [
            "Other in one: the name `Other` is also that of `c.yaml` (give each a name of its own)",
            "Other in one/c.yaml: c.yaml: the name `Other` is also that of `Other` (give each a name of its own)",
            "Same in one/a.yaml: a.yaml: the name `Same` is also that of `b.yaml` (give each a name of its own)",
            "Same in one/b.yaml: b.yaml: the name `Same` is also that of `a.yaml` (give each a name of its own)",
        ]
    );
}

#[test]
fn the_first_place_goes_before_the_second() {
    let stage = Stage::new(&[
        ("one/a.yaml", &graph("Same")),
        ("two/b.yaml", &graph("Same")),
        ("two/c.yaml", &graph("Other")),
    ]);
    assert_eq!(stage.found(), ["Same in one/a.yaml", "Other in two/c.yaml"]);
}

#[test]
fn a_changed_file_is_read_again() {
    let stage = Stage::new(&[("one/a.yaml", &graph("One"))]);
    let file = stage.path("one/a.yaml");
    let touch = |seconds: u64| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    };
    touch(1_000);
    assert_eq!(stage.found(), ["One in one/a.yaml"]);
    // Neither its size nor its time tells that it has changed, so the name is not read again.
    stage.write("one/a.yaml", &graph("Two"));
    touch(1_000);
    assert_eq!(stage.found(), ["One in one/a.yaml"]);
    touch(2_000);
    assert_eq!(stage.found(), ["Two in one/a.yaml"]);
    stage.write("one/a.yaml", &graph("Three"));
    touch(2_000);
    assert_eq!(stage.found(), ["Three in one/a.yaml"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(stage.found(), <[String; 0]>::default());
    stage.write("one/a.yaml", "name: {");
    assert!(stage.found().concat().contains("a graph is not YAML"));
    stage.write("one/a.yaml", &graph("Four"));
    assert_eq!(stage.found(), ["Four in one/a.yaml"]);
}

#[test]
fn what_a_graph_is_made_of_is_always_read_again() {
    let composed = graph("Made").replace("goal: A.", "workflow: ./parts/b.yaml");
    let stage = Stage::new(&[("one/a.yaml", &composed)]);
    assert_eq!(
        stage.found(),
        ["Made in one/a.yaml: a.yaml:8:17: composed file `./parts/b.yaml` does not exist"]
    );
    stage.write("one/parts/b.yaml", &graph("Part"));
    assert!(stage.found().contains(&"Made in one/a.yaml".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_folder_that_only_holds_parts_of_graphs_is_no_workflow() {
    let stage = Stage::new(&[
        ("one/a.yaml", &graph("A")),
        ("one/sub/x.yaml", &graph("X")),
        ("one/begun/index.md", "# Goal\n"),
        ("one/half/steps/a.md", "# Work\n"),
    ]);
    fs::create_dir(stage.path("one/empty")).unwrap();
    let found = stage.found();
    let names: Vec<&str> = found.iter().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(names, ["A", "begun", "half"]);
    assert!(world::is_workflow(&stage.path("one/half")));
    assert!(!world::is_workflow(&stage.path("one/sub")));
}

#[test]
fn a_link_that_leads_out_is_not_followed() {
    let stage = Stage::new(&[("outside.yaml", &graph("Outside"))]);
    std::os::unix::fs::symlink(stage.path("outside.yaml"), stage.path("one/a.yaml")).unwrap();
    let found = stage.found().concat();
    assert!(found.contains("it leads out of the definitions folder"), "{found}");
}

#[test]
fn built_in_graphs_have_the_names_of_their_folders() {
    let world = RealWorld::new(WorldSettings::default());
    let mut graphs = 0;
    for found in world.find_workflows() {
        let workflow = found.read().unwrap();
        if workflow.form == Form::Graph {
            graphs += 1;
            let text = workflow.source.files.values().next().unwrap();
            assert!(text.starts_with(&format!("name: {}\n", found.name)), "{}", found.name);
            assert_eq!(found.check(), [], "{}", found.name);
        }
    }
    assert!(graphs > 0, "no built-in graph found");
}
