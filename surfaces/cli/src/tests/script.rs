//! Reads what is played.

/// One request, and every door that can make it.
#[derive(Default)]
pub(super) struct Scene {
    pub(super) what: String,
    /// How a run gets to where the request is made.
    pub(super) deeds: Vec<Deed>,
    /// The step that the request wants the run at. Empty: its end.
    pub(super) target: String,
    /// Settings, each as `NAME = VALUE`.
    pub(super) policies: Vec<Vec<String>>,
    pub(super) doors: Vec<Door>,
}

/// A door, and how the request is made there.
#[derive(Default)]
pub(super) struct Door {
    pub(super) name: String,
    pub(super) call: String,
    pub(super) deeds: Vec<Deed>,
}

pub(super) enum Deed {
    /// Calls a tool with these arguments.
    Call(String, String),
    /// Has a person give a command in their terminal.
    Type(String),
    /// Writes a file.
    Write(String, String),
    /// Merges members into a JSON file.
    Merge(String, String),
    /// Replaces text in a file.
    Replace(String, String, String),
}

/// Returns the scenes of a text.
pub(super) fn read(text: &str) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    for line in text.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        if mark == "@" {
            scenes.push(Scene { what: rest.to_owned(), ..Scene::default() });
            continue;
        }
        let scene = scenes.last_mut().unwrap();
        match mark {
            ">" => rest.clone_into(&mut scene.target),
            "=" => scene.policies.push(rest.split(", ").map(ToOwned::to_owned).collect()),
            "==" => {
                let (name, call) = rest.split_once(' ').unwrap();
                let (name, call) = (name.to_owned(), call.to_owned());
                scene.doors.push(Door { name, call, ..Door::default() });
            }
            _ => {
                let deeds = scene.doors.last_mut().map_or(&mut scene.deeds, |it| &mut it.deeds);
                deeds.push(deed(mark, rest));
            }
        }
    }
    scenes
}

fn deed(mark: &str, rest: &str) -> Deed {
    let (first, more) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let (first, more) = (first.to_owned(), more.to_owned());
    match mark {
        "-" => Deed::Call(first, more),
        "$" => Deed::Type(rest.to_owned()),
        "+" => Deed::Write(first, more),
        "~" => Deed::Merge(first, more),
        "%" => {
            let (old, new) = more.split_once(" => ").unwrap();
            Deed::Replace(first, old.replace("\\n", "\n"), new.replace("\\n", "\n"))
        }
        _ => panic!("no such deed: {mark} {rest}"),
    }
}
