//! Conditions, expressions and templates: what they see, what they refuse, and what they say.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use definition::{Condition, Expression, Template};
use serde_json::{Value, json};

fn scope() -> Value {
    json!({
        "context": {"x": 1, "name": "Ann", "list": [1, 2], "none": null, "empty": [], "on": true},
        "settings": {"auto_fix": true},
        "vars": {"rounds": 2},
        "flow": "light",
        "key": null,
        "report": {"status": "success", "details": {"a": {"b": 1}}},
        "artifacts": {"design.md": {"size": 10}},
        "steps": {"Run Tests": {"visits": 3}},
    })
}

fn holds(source: &str) -> String {
    match Condition::parse(source) {
        Err(error) => {
            let place = source.get(error.start..error.start + error.width).unwrap();
            let help = error.help.map(|it| format!(" ({it})")).unwrap_or_default();
            format!("refused at `{place}`: {}{help}", error.message)
        }
        Ok(condition) => {
            condition.evaluate(&scope()).map_or_else(|it| it.to_string(), |it| it.to_string())
        }
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(holds(source), expected, "{source}");
}

#[test]
fn conditions_see_the_roots() {
    check("context.x == 1", "true");
    check("context['x'] == 1 and settings.auto_fix", "true");
    check("flow != 'light'", "false");
    check("not context.on", "false");
    check("report.status in ['success', 'done']", "true");
    check("report.status not in ['success', 'done']", "false");
    check("report.details.a.b > 0", "true");
    check("artifacts['design.md'].size >= 10", "true");
    check("'design.md' in artifacts", "true");
    check("'plan.md' in artifacts", "false");
    check("steps['Run Tests'].visits < 3", "false");
    check("context.list|length == 2", "true");
    check("context.list.0 == 1 and context.list[1] == 2", "true");
    check("context.list[vars.rounds - 1] == 2", "true");
    check("context.name|lower == 'ann'", "true");
    check("context.name is startingwith 'A'", "true");
    check("context.name is startingwith('A') and context.name is endingwith 'n'", "true");
    check("context.none is none and key is none", "true");
    check("(context.x if context.on else 0) == 1", "true");
    check("-context.x == -1", "true");
}

#[test]
fn a_name_that_is_not_set_is_an_error_that_names_it() {
    check(
        "context.y == 1",
        "condition `context.y == 1` cannot be evaluated: `context.y` is not set",
    );
    check("context.y", "condition `context.y` cannot be evaluated: `context.y` is not set");
    check(
        "context.a.b != 'x'",
        "condition `context.a.b != 'x'` cannot be evaluated: `context.a.b` is not set",
    );
    check("part.id == '1'", "condition `part.id == '1'` cannot be evaluated: `part.id` is not set");
    check(
        r#"context["it's"] == 1"#,
        r#"condition `context["it's"] == 1` cannot be evaluated: `context["it's"]` is not set"#,
    );
    check(
        "context.none.deep == 1",
        "condition `context.none.deep == 1` cannot be evaluated: `context.none.deep` is not set",
    );
    check(
        "context.list[context.index] == 1",
        "condition `context.list[context.index] == 1` cannot be evaluated: `context.index` is not set",
    );
    check(
        "context.y|lower == 'a'",
        "condition `context.y|lower == 'a'` cannot be evaluated: `context.y` is not set",
    );
    let error = Condition::parse("context.y").unwrap().evaluate(&scope()).unwrap_err();
    assert_eq!(error.missing.as_deref(), Some("context.y"));
}

#[test]
fn what_need_not_be_set_is_said_with_defined_or_default() {
    check("context.y is defined", "false");
    check("context.y is not defined", "true");
    check("context.y is undefined", "true");
    check("context.a.b.c is defined", "false");
    check("verdict is defined", "false");
    check("context.y|default(1) == 1", "true");
    check("context.a.b|default(false)", "false");
    check("context.none|default(3) == 3", "true");
    check("context.y|d('') == ''", "true");
    check("context.y is defined and context.y == 1", "false");
    check("context.x == 1 or context.y == 1", "true");
}

#[test]
fn a_condition_is_true_or_false_and_nothing_else() {
    check(
        "context.x",
        "condition `context.x` cannot be evaluated: it is neither true nor false, but the number `1`",
    );
    check(
        "context.name",
        "condition `context.name` cannot be evaluated: it is neither true nor false, but the string `Ann`",
    );
    check(
        "context.none",
        "condition `context.none` cannot be evaluated: it is neither true nor false, but null",
    );
    check(
        "context.empty|first",
        "condition `context.empty|first` cannot be evaluated: it has no value",
    );
}

#[test]
fn unknown_names_filters_and_tests_are_refused() {
    check(
        "contxt.x == 1",
        "refused at `contxt`: there is no name `contxt` (did you mean `context`?)",
    );
    check(
        "x == 1",
        "refused at `x`: there is no name `x` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)",
    );
    check(
        "loop.index == 1",
        "refused at `loop`: there is no name `loop` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)",
    );
    check(
        "context.x|lenght == 1",
        "refused at `lenght`: there is no filter `lenght` (did you mean `length`?)",
    );
    check(
        "context.x is defind",
        "refused at `defind`: there is no test `defind` (did you mean `defined`?)",
    );
    for gone in ["replace('a', 'b')", "map('x')", "format(1)", "_set('x')", "tojson"] {
        let answer = holds(&format!("context.x|{gone} == 1"));
        assert!(answer.contains("there is no filter"), "{answer}");
    }
    for gone in ["range(9)", "dict(a=1)", "debug()", "namespace()"] {
        let answer = holds(&format!("{gone} == 1"));
        assert!(answer.contains("there is no name"), "{answer}");
    }
}

#[test]
fn nothing_is_called_and_little_makes_no_much() {
    check(
        "context.items() == 1",
        "refused at `context.items`: `context.items` cannot be called (filters are written with a bar: `context.name|lower`)",
    );
    let refused = "refused at `*`: `*` can only stand between names and numbers";
    check("'x' * 100000000 == ''", refused);
    check("[1] * 100000000 == []", refused);
    check("context.name|lower * 100000000 == ''", refused);
    check("(context.name) * 100000000 == ''", refused);
    check("100000000 * (context.name) == ''", refused);
    check(
        "context.name * 100000000 == ''",
        "condition `context.name * 100000000 == ''` cannot be evaluated: `context.name` is not a number",
    );
    check("vars.rounds * 2 == 4 and 2 * vars.rounds == 4", "true");
    check("context.list[0] * 2 == 2", "true");
    let answer = holds("2 * context.name|lower == ''");
    assert!(answer.contains("`*` can only stand"), "{answer}");
    let long = format!("context.x == {}", "1".repeat(1000));
    assert!(Condition::parse(&long).unwrap_err().message.contains("at most 1000 characters"));
    let nested = format!("{}true{}", "(".repeat(400), ")".repeat(400));
    assert!(Condition::parse(&nested).is_err());
    let many = (0..300).map(|_| "1").collect::<Vec<_>>().join("+");
    assert!(Expression::parse(&many).unwrap().evaluate(&scope()).is_ok());
}

#[test]
fn a_join_ends_before_it_fills_the_memory() {
    let scope = json!({"context": {"list": vec![1; 2000], "text": "x".repeat(2000)}});
    let error = Expression::parse("context.list|join(context.text)").unwrap().evaluate(&scope);
    assert!(error.unwrap_err().to_string().contains("more than 65536 bytes"));
}

#[test]
fn syntax_errors_are_told() {
    check(
        "context.x ==",
        "refused at `context.x ==`: it is not an expression: unexpected end of input, expected expression",
    );
    check(
        "context.x = 1",
        "refused at `context.x = 1`: it is not an expression: unexpected input after expression (compare with `==`)",
    );
    check(
        "context.x && context.y",
        "refused at `context.x && context.y`: it is not an expression: unexpected character (write `and`, `or` and `not`)",
    );
    check("", "refused at ``: an expression must not be empty");
    for broken in ["context.", "context[", "context.x 'y'", "((", "'open", "a b", "1 +* 2", "é"] {
        assert!(Condition::parse(broken).is_err(), "{broken}");
    }
}

#[track_caller]
fn check_value(source: &str, expected: &Value) {
    assert_eq!(Expression::parse(source).unwrap().evaluate(&scope()).unwrap(), *expected);
}

#[test]
fn expressions_give_json() {
    check_value("vars.rounds + 1", &json!(3));
    check_value("'true'", &json!("true"));
    check_value("true", &json!(true));
    check_value("none", &Value::Null);
    check_value("report.details", &json!({"a": {"b": 1}}));
    check_value("[context.x, {'k': context.name}]", &json!([1, {"k": "Ann"}]));
    check_value("context.name ~ '-' ~ vars.rounds", &json!("Ann-2"));
    check_value("context.list|join(', ')", &json!("1, 2"));
    check_value("1.5", &json!(1.5));
    let error = Expression::parse("context.x + context.name").unwrap().evaluate(&scope());
    assert_eq!(
        error.unwrap_err().to_string(),
        "expression `context.x + context.name` cannot be evaluated: tried to use + operator on unsupported types number and string"
    );
}

fn render(source: &str) -> String {
    match Template::parse(source) {
        Err(error) => {
            let place = source.get(error.start..error.start + error.width).unwrap();
            format!("refused at `{place}`: {}", error.message)
        }
        Ok(it) => it.render(&scope()).unwrap_or_else(|it| it.to_string()),
    }
}

#[test]
fn templates_put_values_into_text() {
    assert_eq!(render("plain.md"), "plain.md");
    assert_eq!(render("impl-{{ vars.rounds }}.md"), "impl-2.md");
    assert_eq!(render("{{context.name}}{{ '}}' }}{{ context.x }}"), "Ann}}1");
    assert_eq!(render("{ a } {# no comment #} }}"), "{ a } {# no comment #} }}");
    assert_eq!(render("{{ context.on }} {{ context.list }}"), "true [1,2]");
    assert_eq!(render("<{{ '<b>' }}>"), "<<b>>");
    assert_eq!(render("for {{ key|default('you') }}"), "for you");
    assert_eq!(
        render("impl-{{ part.id }}.md"),
        "template `impl-{{ part.id }}.md` cannot be evaluated: `part.id` is not set"
    );
    assert_eq!(
        render("for {{ key }}"),
        "template `for {{ key }}` cannot be evaluated: `key` is null"
    );
    assert_eq!(render("a {% if x %}"), "refused at `{%`: a template has no `{% … %}`");
    assert_eq!(render("a {{ context.x"), "refused at `{{`: `{{` without `}}`");
    assert_eq!(render("a {{ contxt.x }}"), "refused at `contxt`: there is no name `contxt`");
    assert!(Template::parse("plain").unwrap().is_plain());
    assert!(Template::parse("").unwrap().is_plain());
    assert!(!Template::parse("{{ key }}").unwrap().is_plain());
    assert_eq!(Template::parse("a{{ key }}").unwrap().source(), "a{{ key }}");
}

#[test]
fn all_three_can_be_cloned_and_shown() {
    fn shown<T: Clone + std::fmt::Debug>(it: &T) -> String {
        format!("{:?}", it.clone())
    }
    let condition = Condition::parse("context.x == 1").unwrap();
    assert_eq!(shown(&condition), r#"Condition("context.x == 1")"#);
    assert_eq!(shown(&Expression::parse("1").unwrap()), r#"Expression("1")"#);
    assert_eq!(shown(&Template::parse("a").unwrap()), r#"Template("a")"#);
}

#[test]
fn they_can_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<(Condition, Expression, Template)>();
}
