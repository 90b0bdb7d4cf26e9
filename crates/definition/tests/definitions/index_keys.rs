//! The front matter of `index.md`: each key, good and bad.

use definition::{Answers, Decider, VarKind, Workflow};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::{parsed, read, with_index};

fn good(front: &str) -> Workflow {
    match read(&with_index(&format!("---\n{front}\n---\n"), "")) {
        Ok(it) => it,
        Err(error) => panic!("{error}"),
    }
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
    bad("title: [x", expect![[r#""#]]);
    bad("title: x\n\ntitle: y", expect![[r#""#]]);
    bad("title: a: b", expect![[r#""#]]);
    bad("title: {{ key }}", expect![[r#""#]]);
    bad("a: &x 1\nb: *x", expect![[r#""#]]);
    bad("<<: {title: x}", expect![[r#""#]]);
    bad("title:\n\t- x", expect![[r#""#]]);
    bad("- title", expect![[r#""#]]);
    bad("just text", expect![[r#""#]]);
    bad(&format!("settings: {}{}", "{a: ".repeat(40), "}".repeat(40)), expect![[r#""#]]);
    bad("settings: {a: .inf}", expect![[r#""#]]);
    bad("title: x\n...\nmore: y", expect![[r#""#]]);
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    bad("titel: x\ndecidr: ai\nxyzzy: 1", expect![[r#""#]]);
    bad("limits: {visit: 3}\nvars: {a: {type: string, defalt: x}}", expect![[r#""#]]);
}

#[test]
fn names_titles_and_versions() {
    let it = good("name: DEMO\ntitle: A demo\nversion: \"1\"");
    assert_eq!((it.title.as_str(), it.version.as_deref()), ("A demo", Some("1")));
    assert_eq!(good("version: 1.10").version.as_deref(), Some("1.10"));
    assert_eq!(good("version: 2").version.as_deref(), Some("2"));
    assert_eq!(good("title: 2024").title, "2024");
    assert_eq!(good("title:").title, "DEMO");
    bad("name: OTHER\ntitle: ''\nversion: [1]", expect![[r#""#]]);
}

#[test]
fn deciders() {
    assert_eq!(good("decider: declared").decider, Some(Decider::Declared));
    assert_eq!(good("decider: client").decider, Some(Decider::Client));
    assert_eq!(good("decider: ai").decider, Some(Decider::Ai));
    bad("decider: AI", expect![[r#""#]]);
    bad("decider: human", expect![[r#""#]]);
    bad("decider: [ai]", expect![[r#""#]]);
}

#[test]
fn keys_are_patterns_of_the_whole_key() {
    let key = good("key: '[0-9]{4}|x'").key.unwrap();
    assert!(key.is_full_match("0042") && key.is_full_match("x"));
    assert!(!key.is_full_match("00421") && !key.is_full_match("0042\n"));
    assert_eq!(key.source(), "[0-9]{4}|x");
    bad("key: '[0-9'", expect![[r#""#]]);
    bad("key: '(a{1000}){1000}'", expect![[r#""#]]);
    bad("key: {a: b}", expect![[r#""#]]);
}

#[test]
fn params_are_a_schema() {
    let params = good("params: {type: object, required: [id], properties: {id: {type: integer}}}");
    let params = params.params.unwrap();
    assert_eq!(params.check(&json!({"id": 1})), Ok(()));
    let told = params.check(&json!({"id": "x"})).unwrap_err();
    expect![[r#""#]].assert_eq(&told.join("\n"));
    let told = params.check(&json!([])).unwrap_err();
    expect![[r#""#]].assert_eq(&told.join("\n"));
    bad("params: {type: 5}", expect![[r#""#]]);
    bad("params: [x]", expect![[r#""#]]);
    bad("params: {$ref: 'https://example.com/schema.json'}", expect![[r#""#]]);
    bad("params: {$ref: 'file:///etc/passwd'}", expect![[r#""#]]);
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
    expect![[r#""#]].assert_eq(&shown.join("\n"));
    assert_eq!(it.vars["name"].kind, VarKind::String);
    bad(
        "vars: {a: {type: text}, b: {type: integer, default: x}, c: , d-e: 1, 1f: 2}",
        expect![[r#""#]],
    );
    bad(
        "vars: {a: {type: string, default: X, one_of: [S, M]}, b: {type: integer, one_of: [1, x]}}",
        expect![[r#""#]],
    );
    bad("vars: [a]", expect![[r#""#]]);
    bad("vars: {a: {type: integer, default: 1.5}}", expect![[r#""#]]);
}

#[test]
fn settings_are_constants() {
    let it = good("settings: {auto_fix: true, retries: 3, deep: {a: [1, null, x]}}");
    assert_eq!(
        serde_json::Value::Object(it.settings),
        json!({"auto_fix": true, "retries": 3, "deep": {"a": [1, null, "x"]}})
    );
    bad("settings: 5", expect![[r#""#]]);
}

#[test]
fn flows_leave_steps_out() {
    let it = good("flows: {light: [B], full: [], none: }\nflow: light");
    assert_eq!(it.flows["light"].skips.iter().map(|it| it.as_str()).collect::<Vec<_>>(), ["B"]);
    assert!(it.flows["full"].skips.is_empty() && it.flows["none"].skips.is_empty());
    assert_eq!(it.flow.as_deref(), Some("light"));
    bad("flows: {light: [b, C]}\nflow: lihgt", expect![[r#""#]]);
    bad("flow: light", expect![[r#""#]]);
    bad("flows: {all: [A, B], one: B}", expect![[r#""#]]);
}

#[test]
fn limits_are_counts() {
    assert_eq!(good("limits: {visits: 3}").limits.visits_max, 3);
    assert_eq!(good("limits: {}").limits.visits_max, 25);
    assert_eq!(good("title: x").limits.visits_max, 25);
    bad("limits: {visits: 0}", expect![[r#""#]]);
    bad("limits: {visits: many}", expect![[r#""#]]);
    bad("limits: {visits: 1.5}", expect![[r#""#]]);
    bad("limits: {visits: -1}", expect![[r#""#]]);
    bad("limits: 3", expect![[r#""#]]);
}

#[test]
fn gates_say_which_answers_count() {
    assert_eq!(good("gates: relayed").answers, Answers::Relayed);
    assert_eq!(good("gates: verified").answers, Answers::Verified);
    assert_eq!(good("title: x").answers, Answers::Verified);
    bad("gates: relaid", expect![[r#""#]]);
}
