//! What a graph is given, and where its texts say so.

use definition::{fill_inputs, prepare_inputs};
use serde_json::{Map, Value, json};

use crate::graphs::{read, tree};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn placeholders_are_filled() {
    let inputs = map(
        json!({"task": "x ${{ inputs.n }}", "n": 3, "b": true, "none": null, "list": [1, "a"], "f": 0.5, "ä": "ö"}),
    );
    let fill = |text: &str| fill_inputs(text, &inputs);
    assert_eq!(fill("${{ inputs.n }}/${{inputs.n}}/${{   inputs.n}}"), "3/3/3");
    assert_eq!(fill("${{ inputs.b }} ${{ inputs.f }} ${{ inputs.ä }}"), "true 0.5 ö");
    assert_eq!(fill("[${{ inputs.none }}]"), "[]");
    assert_eq!(fill("${{ inputs.list }}"), "[1,\"a\"]");
    // What an input says is not looked into again, and what is unknown stays.
    assert_eq!(fill("${{ inputs.task }}"), "x ${{ inputs.n }}");
    for same in [
        "${{ inputs.missing }}",
        "${{ outputs.n }}",
        "{{ inputs.n }}",
        "${ inputs.n }",
        "${{ inputs.n",
        "${{ inputs. }}",
        "${{ inputs.1 }}",
    ] {
        assert_eq!(fill(same), same);
    }
}

fn prepared(given: Value) -> (Value, Vec<String>) {
    let inputs = "inputs:\n  task_description: {type: string, required: true}\n  n: {type: integer, required: false}\n  x: {type: number, required: false}\n  b: {type: boolean, required: false}\n  l: {type: array, required: false}\n  s: {type: string, default: d}\n  o: {type: odd}\n";
    let (workflow, _) = read(&format!("{inputs}{}", tree("a: {goal: A}"))).unwrap();
    let (inputs, warnings) = prepare_inputs(&workflow, "the task", &map(given));
    (Value::Object(inputs), warnings)
}

#[test]
fn every_input_has_a_value() {
    let (inputs, warnings) = prepared(json!({}));
    assert_eq!(
        inputs,
        json!({"task_description": "the task", "n": 0, "x": 0, "b": false, "l": [], "s": "d", "o": ""})
    );
    assert_eq!(warnings, ["required input `o` has neither a value nor a default"]);
}

#[test]
fn given_values_go_first_but_for_the_task() {
    let (inputs, warnings) = prepared(
        json!({"n": 5, "s": null, "o": "x", "task_description": "other", "nn": 1, "zzz": 2}),
    );
    assert_eq!(
        inputs,
        json!({"task_description": "the task", "n": 5, "x": 0, "b": false, "l": [], "s": null, "o": "x"})
    );
    assert_eq!(
        warnings,
        [
            "there is no input `nn` (did you mean `n`?)",
            "there is no input `zzz` (known: `n`, `x`, `b`, `l`, `s`, `o`)"
        ]
    );
}
