//! Scenes: advice is a call written as `tool(name='value')`, or a tool's bare name.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::walk::{Advice, Dialect, Said, Walk, define_builtin, object, play};

const NAMES: [&str; 6] = [
    "scene:gen:setup:files",
    "scene:gen:setup:blueprint",
    "scene:gen:setup:plan",
    "scene:gen:draft:prose",
    "scene:gen:review:validation",
    "scene:gen:publish:output",
];

#[test]
fn advice_on_scenes_can_be_followed_in_the_first_half() {
    play::<Scenes>(0);
}

#[test]
fn advice_on_scenes_can_be_followed_in_the_second_half() {
    play::<Scenes>(1);
}

struct Scenes {
    scene: String,
    /// Whether steps are named, not numbered.
    is_named: bool,
}

impl Dialect for Scenes {
    const TOOLSET: &'static str = "generation";
    const STEPS: usize = 6;
    const ENDS_EVERY: u64 = 6;

    async fn begin(walk: &mut Walk) -> (Self, Said) {
        define_builtin(&walk.stage, "scene-generation");
        let scenes = Self { scene: walk.number(), is_named: walk.draw(4) == 0 };
        let start = json!({ "scene_id": scenes.scene, "blueprint_path": "acts/blueprint.md" });
        let mut said = walk.call("start_generation", object(start)).await;
        // The work has come somewhere.
        for step in 1..=walk.draw(9) {
            let number = u8::try_from(step).unwrap();
            walk.call("start_step", scenes.arguments(number, json!({}))).await;
            let done = scenes.arguments(number, json!({ "duration_seconds": 3 }));
            said = walk.call("complete_step", done).await;
        }
        (scenes, said)
    }

    fn advice(&self, walk: &Walk, said: &Said) -> Vec<Advice> {
        let mut advice: Vec<Advice> = Vec::new();
        let text = format!("{}\n{}", said.text, said.hint());
        let mut is_sequence = false;
        for line in text.lines() {
            if line.ends_with(':') {
                is_sequence = line.contains("Next");
            }
            // The plan of what comes once the user has agreed to resume.
            if line.starts_with("All steps are completed") {
                continue;
            }
            for found in CALL.captures_iter(line) {
                if !walk.tools.contains_key(&found[1]) {
                    continue;
                }
                let mut next = Advice {
                    tool: found[1].to_owned(),
                    arguments: found.get(3).map_or_else(Map::new, |it| arguments(it.as_str())),
                    line: line.to_owned(),
                    needs_person: line.contains("milepost gate"),
                    ..Advice::default()
                };
                let is_then = line.contains(", then ") || line.contains(" and call ");
                next.after = advice.len().checked_sub(1).filter(|_| is_sequence || is_then);
                next.gives_up = ["cancel_generation", "fail_generation"].contains(&&found[1]);
                self.complete(walk, said, &mut next);
                let is_same = |it: &Advice| it.tool == next.tool && it.arguments == next.arguments;
                if !advice.iter().any(is_same) {
                    advice.push(next);
                }
            }
        }
        advice
    }

    async fn prepare(&mut self, _walk: &mut Walk, _advice: &Advice) {}

    async fn disturb(&mut self, walk: &mut Walk) -> Said {
        match walk.draw(12) {
            0 => walk.restart().await,
            1 => walk.answer(&self.scene.clone(), false).await,
            2 => walk.answer(&self.scene.clone(), true).await,
            3..=4 => edit(walk, &format!("generation-state-{}.json", self.scene)),
            _ => return self.call_any(walk).await,
        }
        self.look(walk).await
    }

    async fn look(&mut self, walk: &mut Walk) -> Said {
        walk.call("get_generation_status", object(json!({ "scene_id": self.scene }))).await
    }

    fn run(&self) -> String {
        self.scene.clone()
    }
}

impl Scenes {
    /// Fills what the answer leaves open.
    fn complete(&self, walk: &Walk, said: &Said, next: &mut Advice) {
        let schema = &walk.tools[&next.tool];
        let takes = |name: &str| !schema["properties"][name].is_null();
        if takes("scene_id") {
            next.arguments.entry("scene_id").or_insert(json!(self.scene));
        }
        let has_step =
            ["step_number", "step_name"].iter().any(|it| next.arguments.contains_key(*it));
        if takes("step_number") && !has_step {
            // The step that the call was about.
            for name in ["step_number", "step_name"] {
                if let Some(value) = said.arguments.get(name) {
                    next.arguments.insert(name.to_owned(), value.clone());
                }
            }
        }
        walk.fill(&next.tool, &mut next.arguments);
    }

    async fn call_any(&self, walk: &mut Walk) -> Said {
        let number = u8::try_from(1 + walk.draw(7)).unwrap();
        let scene = object(json!({ "scene_id": self.scene }));
        let wrong = json!({ "failure_reason": "it broke" });
        let error = json!({ "error_type": "t", "error_message": "m", "severity": "HIGH" });
        let (tool, arguments) = match walk.draw(13) {
            0..=2 => {
                let asks = number == 3 && walk.draw(2) == 0;
                let more = if asks { json!({ "awaiting_approval": true }) } else { json!({}) };
                ("start_step", self.arguments(number, more))
            }
            3..=4 => {
                let more = json!({ "duration_seconds": 2,
                    "metadata": { "workflow_complete": walk.draw(4) == 0 } });
                ("complete_step", self.arguments(number, more))
            }
            5 => ("record_error", self.arguments(number, error)),
            6 => ("fail_step", self.arguments(number, wrong)),
            7 => {
                let more = json!({ "failure_reason": "r", "metadata": { "terminal": true } });
                ("fail_step", self.arguments(number, more))
            }
            8 => ("retry_step", self.arguments(number, json!({}))),
            9 => ("fail_generation", self.arguments(number, wrong)),
            10 => ("cancel_generation", scene),
            11 => {
                let mut arguments = scene;
                arguments.insert("force".to_owned(), (walk.draw(2) == 0).into());
                arguments.insert("confirm".to_owned(), (walk.draw(2) == 0).into());
                ("resume_generation", arguments)
            }
            _ => {
                let mut arguments = scene;
                arguments.insert("blueprint_path".to_owned(), "b.md".into());
                ("start_generation", arguments)
            }
        };
        walk.call(tool, arguments).await
    }

    fn arguments(&self, number: u8, more: Value) -> Map<String, Value> {
        let mut arguments = object(more);
        arguments.insert("scene_id".to_owned(), json!(self.scene));
        if self.is_named {
            let place = usize::from(number - u8::from(5 < number)).clamp(1, NAMES.len());
            arguments.insert("step_name".to_owned(), NAMES[place - 1].into());
        } else {
            arguments.insert("step_number".to_owned(), number.min(7).into());
        }
        arguments
    }
}

/// Someone writes into the state file.
fn edit(walk: &mut Walk, file: &str) {
    let Some(text) = walk.stage.promised(file) else { return };
    let Ok(mut document) = serde_json::from_str::<Value>(&text) else { return };
    let what = match walk.draw(3) {
        0 => {
            let words = ["IN_PROGRESS", "FAILED", "CANCELLED", "WAITING_USER_APPROVAL"];
            ("workflow_status", json!(walk.pick(&words)))
        }
        1 => ("current_step", json!(walk.draw(8))),
        _ => {
            let words = ["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED"];
            let word = walk.pick(&words);
            let steps = document["steps"].as_object().map(Map::len).unwrap_or_default();
            if 0 < steps {
                let place = walk.draw(steps);
                let step = document["steps"].as_object_mut().unwrap().values_mut().nth(place);
                step.unwrap()["status"] = json!(word);
            }
            ("note", json!(word))
        }
    };
    walk.tell(format!("edit of the file: {} {}", what.0, what.1));
    document[what.0] = what.1;
    walk.stage.rewrite(file, |_| serde_json::to_string_pretty(&document).unwrap());
}

/// A tool's name, with its arguments where they are named.
static CALL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b([a-z_]+)\b(\(([^)]*)\))?").unwrap());
/// One argument: `name='text'`, `name=True` or `name=3`. Everything else is left open.
static ARGUMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([a-z_]+)=(?:'([^']*)'|(True|False)|([0-9]+))").unwrap());

fn arguments(text: &str) -> Map<String, Value> {
    let mut arguments = Map::new();
    for found in ARGUMENT.captures_iter(text) {
        let value = match (found.get(2), found.get(3), found.get(4)) {
            (Some(text), ..) if text.as_str() == "..." => continue,
            (Some(text), ..) => json!(text.as_str()),
            (_, Some(word), _) => json!(word.as_str() == "True"),
            (.., Some(number)) => json!(number.as_str().parse::<u64>().unwrap()),
            (None, None, None) => continue,
        };
        arguments.insert(found[1].to_owned(), value);
    }
    arguments
}
