//! The front matter of `index.md`: each key, good and bad.

use definition::{Answers, Decider, VarKind, Workflow};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::{parsed, read, with_index};

fn good(front: &str) -> Workflow {
    read(&with_index(&format!("---\n{front}\n---\n"), "")).unwrap()
}

#[track_caller]
fn bad(front: &str, expected: Expect) {
    expected.assert_eq(&parsed(&with_index(&format!("---\n{front}\n---\n"), "")));
}

#[test]
fn front_matter_is_optional_and_has_two_marks() {
    let index = |front: &str| read(&with_index(front, "")).unwrap().index;
    let body = "# Demo\n1. [A](steps/a.md)\n2. [B](steps/b.md)\n";
    assert_eq!(index(""), body);
    assert_eq!(index("---\ntitle: x\n---\n"), body);
    assert_eq!(index("--- \ntitle: x\n---  \n"), body);
    assert_eq!(index("---\n---\n"), body);
    assert_eq!(index("---\n# nothing but a comment\n---\n"), body);
    // No closing mark, or not on the first line: a rule of Markdown.
    assert_eq!(index("---\ntitle: x\n"), format!("---\ntitle: x\n{body}"));
    assert_eq!(index("\n---\ntitle: x\n---\n"), format!("\n---\ntitle: x\n---\n{body}"));
}

#[test]
fn yaml_mistakes_have_places() {
    bad(
        "title: [x",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:2:8: front matter is not YAML: unclosed bracket '['
    "#]],
    );
    bad(
        "title: x\n\ntitle: y",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:4:1: key `title` is written twice
    "#]],
    );
    bad(
        "title: a: b",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:2:9: front matter is not YAML: mapping values are not allowed in this context
    "#]],
    );
    bad(
        "title: {{ key }}",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:2:9: front matter is not YAML: expected string scalar (quote a text that begins with `{` or `[`)
    "#]],
    );
    bad(
        "a: &x 1\nb: *x",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:2:7: anchors, aliases and merge keys are not understood here
    "#]],
    );
    bad(
        "<<: {title: x}",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:2:1: anchors, aliases and merge keys are not understood here
    "#]],
    );
    bad(
        "title:\n\t- x",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:3:2: front matter is not YAML: tabs disallowed within this context (block indentation)
    "#]],
    );
    bad(
        "- title",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:2:1: front matter must be a map, not a list
        "#]],
    );
    bad(
        "just text",
        expect![[r#"
            Invalid
            error value_invalid ^9 DEMO/index.md:2:1: front matter must be a map, not a text
        "#]],
    );
    bad(
        &format!("settings: {}{}", "{a: ".repeat(40), "}".repeat(40)),
        expect![[r#"
            Invalid
            error front_matter_invalid ^1 DEMO/index.md:2:135: front matter is one YAML document with at most 32 levels and 20000 values
        "#]],
    );
    bad(
        "settings: {a: .inf}",
        expect![[r#"
        Invalid
        error front_matter_invalid ^1 DEMO/index.md:2:15: front matter is not YAML: non-finite float `.inf` rejected by the configured policy
    "#]],
    );
    bad(
        "title: x\n...\nmore: y",
        expect![[r#"
            Invalid
            error front_matter_invalid ^1 DEMO/index.md:3:1: front matter is one YAML document with at most 32 levels and 20000 values
        "#]],
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    bad(
        "titel: x\ndecidr: ai\nxyzzy: 1",
        expect![[r#"
            Invalid
            error key_unknown ^5 DEMO/index.md:2:1: there is no key `titel` (did you mean `title`?)
            error key_unknown ^6 DEMO/index.md:3:1: there is no key `decidr` (did you mean `decider`?)
            error key_unknown ^5 DEMO/index.md:4:1: there is no key `xyzzy` (known: `language`, `title`, `version`, `decider`, `key`, `params`, `vars`, `settings`, `flows`, `from`, `until`, `limits`, `gates`, `ends`, `args`, `on`)
        "#]],
    );
    bad(
        "limits: {visit: 3}\nvars: {a: {type: string, defalt: x}}",
        expect![[r#"
            Invalid
            error key_unknown ^5 DEMO/index.md:2:10: `limits` has no key `visit` (did you mean `visits`?)
            error key_unknown ^6 DEMO/index.md:3:26: `vars.a` has no key `defalt` (known: `one_of`)
        "#]],
    );
}

#[test]
fn names_titles_and_versions() {
    let it = good("name: DEMO\ntitle: A demo\nversion: \"1\"");
    assert_eq!((it.title.as_str(), it.version.as_deref()), ("A demo", Some("1")));
    assert_eq!(good("version: 1.10").version.as_deref(), Some("1.10"));
    assert_eq!(good("version: 2").version.as_deref(), Some("2"));
    assert_eq!(good("title: 2024").title, "2024");
    assert_eq!(good("title:").title, "DEMO");
    bad(
        "name: OTHER\ntitle: ''\nversion: [1]",
        expect![[r#"
        Invalid
        error name_mismatched ^5 DEMO/index.md:2:7: `name` is `OTHER`, but the folder is called `DEMO` (leave `name` out)
        error value_invalid ^2 DEMO/index.md:3:8: `title` must not be empty
        error value_invalid ^1 DEMO/index.md:4:10: `version` must be a text, not a list
    "#]],
    );
}

#[test]
fn deciders() {
    assert_eq!(good("decider: declared").decider, Some(Decider::Declared));
    assert_eq!(good("decider: client").decider, Some(Decider::Client));
    assert_eq!(good("decider: ai").decider, Some(Decider::Ai));
    bad(
        "decider: AI",
        expect![[r#"
        Invalid
        error value_invalid ^2 DEMO/index.md:2:10: `decider` cannot be `AI` (did you mean `ai`?)
    "#]],
    );
    bad(
        "decider: human",
        expect![[r#"
        Invalid
        error value_invalid ^5 DEMO/index.md:2:10: `decider` cannot be `human` (known: `declared`, `client`, `ai`)
    "#]],
    );
    bad(
        "decider: [ai]",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:2:10: `decider` must be a text, not a list
    "#]],
    );
}

#[test]
fn keys_are_patterns_of_the_whole_key() {
    let key = good("key: '[0-9]{4}|x'").key.unwrap();
    assert!(key.is_full_match("0042") && key.is_full_match("x"));
    assert!(!key.is_full_match("00421") && !key.is_full_match("0042\n"));
    assert_eq!(key.source(), "[0-9]{4}|x");
    bad(
        "key: '[0-9'",
        expect![[r#"
        Invalid
        error pattern_invalid ^6 DEMO/index.md:2:6: `key` is not a pattern: unclosed character class
    "#]],
    );
    bad(
        "key: '(a{1000}){1000}'",
        expect![[r#"
            Invalid
            error pattern_invalid ^17 DEMO/index.md:2:6: `key` is not a pattern: compiled, it has more than 1048576 bytes
        "#]],
    );
    bad(
        "key: {a: b}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:2:6: `key` must be a text, not a map
    "#]],
    );
}

#[test]
fn params_are_a_schema() {
    let params = good("params: {type: object, required: [id], properties: {id: {type: integer}}}");
    let params = params.params.unwrap();
    assert_eq!(params.check(&json!({"id": 1})), Ok(()));
    let told = params.check(&json!({"id": "x"})).unwrap_err();
    expect![[r#"/id: "x" is not of type "integer""#]].assert_eq(&told.join("\n"));
    let told = params.check(&json!([])).unwrap_err();
    expect![[r#"[] is not of type "object""#]].assert_eq(&told.join("\n"));
    bad(
        "params: {type: 5}",
        expect![[r#"
            Invalid
            error schema_invalid ^1 DEMO/index.md:2:9: `params` is not JSON Schema: /type: 5 is not valid under any of the schemas listed in the 'anyOf' keyword
        "#]],
    );
    bad(
        "params: [x]",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:2:9: `params` must be a JSON Schema, not a list
    "#]],
    );
    bad(
        "params: {$ref: 'https://example.com/schema.json'}",
        expect![[r#"
            Invalid
            error schema_invalid ^1 DEMO/index.md:2:9: `params` is not JSON Schema: `$ref` must lead into the schema itself
        "#]],
    );
    bad(
        "params: {$ref: 'file:///etc/passwd'}",
        expect![[r#"
            Invalid
            error schema_invalid ^1 DEMO/index.md:2:9: `params` is not JSON Schema: `$ref` must lead into the schema itself
        "#]],
    );
    good("params: {$defs: {a: {type: string}}, $ref: '#/$defs/a'}");
}

#[test]
fn variables_have_types() {
    let it = good(
        "vars:\n  flag: false\n  count: 3\n  share: 0.5\n  name: x\n  list: [1]\n  object: {a: 1}\n  \
         effort: {type: string, default: M, one_of: [S, M, L]}\n  size: {type: string, one_of: [S, M]}\n  \
         number: {type: number, default: 1}\n  empty: {type: list}\n  guessed: {default: 7}\n  off: off",
    );
    let shown: Vec<String> = it
        .vars
        .iter()
        .map(|(name, it)| format!("{name}: {:?} {} {:?}", it.kind, it.default, it.one_of.len()))
        .collect();
    expect![[r#"
        count: Integer 3 0
        effort: String "M" 3
        empty: List [] 0
        flag: Boolean false 0
        guessed: Integer 7 0
        list: List [1] 0
        name: String "x" 0
        number: Number 1 0
        object: Object {"a":1} 0
        off: String "off" 0
        share: Number 0.5 0
        size: String "S" 2"#]]
    .assert_eq(&shown.join("\n"));
    assert_eq!(it.vars["name"].kind, VarKind::String);
    bad(
        "vars: {a: {type: text}, b: {type: integer, default: x}, c: , d-e: 1, 1f: 2}",
        expect![[r#"
            Invalid
            error value_invalid ^4 DEMO/index.md:2:18: `vars.a.type` cannot be `text` (known: `boolean`, `integer`, `number`, `string`, `list`, `object`)
            error value_invalid ^1 DEMO/index.md:2:53: `vars.b` is of type `integer`, and this is not
            error value_invalid ^1 DEMO/index.md:2:58: `vars.c` has no type (write its first value, such as `''`, `0` or `[]`)
            error value_invalid ^3 DEMO/index.md:2:62: `d-e` cannot name a variable (conditions say `vars.NAME`: letters, digits and `_`)
            error value_invalid ^2 DEMO/index.md:2:70: `1f` cannot name a variable (conditions say `vars.NAME`: letters, digits and `_`)
        "#]],
    );
    bad(
        "vars: {a: {type: string, default: X, one_of: [S, M]}, b: {type: integer, one_of: [1, x]}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:2:35: `vars.a.default` is not among its `one_of`
            error value_invalid ^1 DEMO/index.md:2:86: `vars.b` is of type `integer`, and this is not
        "#]],
    );
    bad(
        "vars: [a]",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:2:7: `vars` must be a map, not a list
    "#]],
    );
    bad(
        "vars: {a: {type: integer, default: 1.5}}",
        expect![[r#"
        Invalid
        error value_invalid ^3 DEMO/index.md:2:36: `vars.a` is of type `integer`, and this is not
    "#]],
    );
}

#[test]
fn settings_are_constants() {
    let it = good("settings: {auto_fix: true, retries: 3, deep: {a: [1, null, x]}}");
    assert_eq!(
        serde_json::Value::Object(it.settings),
        json!({"auto_fix": true, "retries": 3, "deep": {"a": [1, null, "x"]}})
    );
    bad(
        "settings: 5",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:2:11: `settings` must be a map, not a number
    "#]],
    );
}

#[test]
fn flows_leave_steps_out() {
    let it = good("flows: {light: [B], full: [], none: }\nflow: light");
    assert_eq!(it.flows["light"].skips.iter().map(|it| it.as_str()).collect::<Vec<_>>(), ["B"]);
    assert!(it.flows["full"].skips.is_empty() && it.flows["none"].skips.is_empty());
    assert_eq!(it.flow.as_deref(), Some("light"));
    bad(
        "flows: {light: [b, C]}\nflow: lihgt",
        expect![[r#"
            Invalid
            error step_unknown ^1 DEMO/index.md:2:17: there is no step `b` (did you mean `B`?)
            error step_unknown ^1 DEMO/index.md:2:20: there is no step `C` (known: `A`, `B`)
            error flow_unknown ^5 DEMO/index.md:3:7: there is no flow `lihgt` (did you mean `light`?)
        "#]],
    );
    bad(
        "flow: light",
        expect![[r#"
            Invalid
            error flow_unknown ^5 DEMO/index.md:2:7: there is no flow `light` (declare it under `flows`)
        "#]],
    );
    bad(
        "flows: {all: [A, B], one: B}",
        expect![[r#"
        Invalid
        error value_invalid ^3 DEMO/index.md:2:9: flow `all` leaves out every step
        error value_invalid ^1 DEMO/index.md:2:27: `flows.one` must be a list, not a text
    "#]],
    );
}

#[test]
fn limits_are_counts() {
    assert_eq!(good("limits: {visits: 3}").limits.visits_max, 3);
    assert_eq!(good("limits: {}").limits.visits_max, 25);
    assert_eq!(good("title: x").limits.visits_max, 25);
    bad(
        "limits: {visits: 0}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:2:18: `limits.visits` must be at least 1
        "#]],
    );
    bad(
        "limits: {visits: many}",
        expect![[r#"
        Invalid
        error value_invalid ^4 DEMO/index.md:2:18: `limits.visits` must be a whole number, not a text
    "#]],
    );
    bad(
        "limits: {visits: 1.5}",
        expect![[r#"
            Invalid
            error value_invalid ^3 DEMO/index.md:2:18: `limits.visits` must be a whole number, not a fraction
        "#]],
    );
    bad(
        "limits: {visits: -1}",
        expect![[r#"
            Invalid
            error value_invalid ^2 DEMO/index.md:2:18: `limits.visits` must be at least 1
        "#]],
    );
    bad(
        "limits: 3",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:2:9: `limits` must be a map, not a number
    "#]],
    );
}

#[test]
fn gates_say_which_answers_count() {
    assert_eq!(good("gates: relayed").answers, Answers::Relayed);
    assert_eq!(good("gates: verified").answers, Answers::Verified);
    assert_eq!(good("title: x").answers, Answers::Verified);
    bad(
        "gates: relaid",
        expect![[r#"
        Invalid
        error value_invalid ^6 DEMO/index.md:2:8: `gates` cannot be `relaid` (did you mean `relayed`?)
    "#]],
    );
}

#[test]
fn a_run_can_be_confined_to_a_stretch_and_to_a_budget() {
    let it = good(
        "from: \"vars.from\"\nuntil: \"vars.until\"\nbudget: {tokens: 1000, ask: \"{{ usage.tokens }} are gone\"}\n\
         vars: {from: \"\", until: \"\"}",
    );
    assert_eq!(it.stretch.from.as_ref().unwrap().source(), "vars.from");
    assert_eq!(it.stretch.until.as_ref().unwrap().source(), "vars.until");
    let budget = it.budget.as_ref().unwrap();
    assert_eq!(budget.tokens.as_ref().unwrap().source(), "1000");
    assert!(budget.ask.is_some() && budget.money.is_none());
    assert!(good("title: t").budget.is_none());
    let it = good(
        "budget: {tokens: 0, money: 5, prices: \"vars.p\"}\nvars: {p: {type: object, default: {}}}",
    );
    let money = it.budget.unwrap().money.unwrap();
    assert_eq!((money.max.source(), money.prices.source()), ("5", "vars.p"));
    bad(
        "budget: {tokens: 0, money: 5}",
        expect![[r#"
            Invalid
            error key_missing ^1 DEMO/index.md:2:9: `limits` lacks `prices`
        "#]],
    );
    bad(
        "from: [a]\nuntil: \"var.x\"\nbudget: {ask: x, euros: 5}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:2:7: `from` must be a text, not a list
            error expression_invalid ^3 DEMO/index.md:3:9: `until`: there is no name `var` (did you mean `vars`?)
            error key_unknown ^5 DEMO/index.md:4:18: `limits` has no key `euros` (known: `visits`, `tokens`, `cost`, `prices`, `ask`)
        "#]],
    );
}
