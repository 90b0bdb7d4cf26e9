//! The front matter of a step: each key, good and bad.

use definition::{Check, Evidence, Order, PartSource, Presence, Work};
use expect_test::expect;
use serde_json::json;

use crate::support::{bad_step as bad, good_step as good, parsed, read};

#[test]
fn a_step_without_front_matter_has_defaults() {
    let it = good("title: A");
    assert_eq!(it.work, Work::Agent);
    assert_eq!(it.evidence, Evidence::Warn);
    assert!(it.gate.is_none() && it.review.is_none() && it.each.is_none());
    assert!(it.attempts.is_none() && it.next.is_empty() && it.skip_when.is_none());
    assert!(it.lease.is_none() && it.timeout.is_none() && it.agent.is_none());
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    bad(
        "produce: [a.md]\ntimeouts: 1m\nneed: []\nxyzzy: 1",
        expect![[r#"
            Invalid
            error key_unknown ^7 DEMO/steps/a.md:2:1: there is no key `produce` (did you mean `produces`?)
            error key_unknown ^8 DEMO/steps/a.md:3:1: there is no key `timeouts` (did you mean `timeout`?)
            error key_unknown ^4 DEMO/steps/a.md:4:1: there is no key `need` (did you mean `needs`?)
            error key_unknown ^5 DEMO/steps/a.md:5:1: there is no key `xyzzy` (known: `title`, `agent`, `work`, `needs`, `produces`, `criteria`, `evidence`, `checks`, `gate`, `review`, `attempts`, `next`, `on`, `each`, `skip_when`, `lease`, `timeout`)
        "#]],
    );
    bad(
        "gate: {aks: x}\nreview: {off: B}\nattempts: {maximum: 3}\nnext: {two: B}\neach: {part: x}\nproduces: [{paht: x}]\nneeds: [{file: x}]\nchecks: [{cmd: x}]",
        expect![[r#"
            Invalid
            error key_unknown ^3 DEMO/steps/a.md:2:8: `gate` has no key `aks` (did you mean `ask`?)
            error key_missing ^1 DEMO/steps/a.md:3:9: `review` lacks `of`
            error key_unknown ^3 DEMO/steps/a.md:3:10: `review` has no key `off` (did you mean `of`?)
            error value_invalid ^7 DEMO/steps/a.md:4:12: `attempts` says after how many times, and `maximum` is not that (write `{3: ask}`)
            error value_invalid ^1 DEMO/steps/a.md:4:21: `attempts` cannot be `3` (known: `fail`, `warn`, `ask`, `goto STEP`)
            error key_missing ^1 DEMO/steps/a.md:5:7: `next` lacks `to`
            error key_unknown ^3 DEMO/steps/a.md:5:8: `next` has no key `two` (did you mean `to`?)
            error key_missing ^1 DEMO/steps/a.md:6:7: `each` lacks `parts`
            error key_unknown ^4 DEMO/steps/a.md:6:8: `each` has no key `part` (did you mean `parts`?)
            error key_missing ^1 DEMO/steps/a.md:7:12: `produces` lacks `path`
            error key_unknown ^4 DEMO/steps/a.md:7:13: `produces` has no key `paht` (did you mean `path`?)
            error key_missing ^1 DEMO/steps/a.md:8:9: `needs` lacks `path`
            error key_unknown ^4 DEMO/steps/a.md:8:10: `needs` has no key `file` (known: `path`, `when`, `optional`)
            error key_missing ^1 DEMO/steps/a.md:9:10: `checks` lacks `run`
            error key_unknown ^3 DEMO/steps/a.md:9:11: `checks` has no key `cmd`
        "#]],
    );
}

#[test]
fn titles_agents_and_work() {
    let it = good("title: Design\nagent: architect\nwork: none");
    assert_eq!(
        (it.title.as_str(), it.agent.as_ref().map(definition::Template::source), it.work),
        ("Design", Some("architect"), Work::None)
    );
    assert_eq!(good("work: agent").work, Work::Agent);
    bad(
        "title: {}\nagent: []\nwork: nobody",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:8: `title` must be a text, not a map
        error value_invalid ^1 DEMO/steps/a.md:3:8: `agent` must be a text, not a list
        error value_invalid ^6 DEMO/steps/a.md:4:7: `work` cannot be `nobody` (known: `none`, `agent`)
    "#]],
    );
}

#[test]
fn a_step_that_nobody_works_on_needs_no_sections() {
    let text = "== DEMO/index.md\n- [A](steps/a.md)\n- [B](steps/b.md)\n== DEMO/steps/a.md\n---\nwork: none\ngate: true\n---\n== DEMO/steps/b.md\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
    let workflow = read(text).unwrap();
    assert_eq!(workflow.first_step().unwrap().instructions, "");
    assert!(read(&text.replace("work: none", "work: agent")).is_err());
}

#[test]
fn needs_are_paths() {
    let it = good("needs: [request.md, {path: 'x-{{ key }}.md', when: \"flow != 'light'\"}]");
    assert_eq!(it.needs[0].path.source(), "request.md");
    assert_eq!(it.needs[1].path.source(), "x-{{ key }}.md");
    assert_eq!(it.needs[1].when.as_ref().unwrap().source(), "flow != 'light'");
    bad(
        "needs: request.md",
        expect![[r#"
        Invalid
        error value_invalid ^10 DEMO/steps/a.md:2:8: `needs` must be a list, not a text
    "#]],
    );
    bad(
        "needs: [/etc/passwd, ../x.md, a/../../b.md, {when: \"true\"}, [x], {path: x, when: \"flw == 1\"}]",
        expect![[r#"
            Invalid
            error path_outside ^11 DEMO/steps/a.md:2:9: `/etc/passwd` is an absolute path; artifacts are relative to the run's root
            error path_outside ^7 DEMO/steps/a.md:2:22: `../x.md` leads out of the run's root
            error path_outside ^12 DEMO/steps/a.md:2:31: `a/../../b.md` leads out of the run's root
            error key_missing ^1 DEMO/steps/a.md:2:45: `needs` lacks `path`
            error value_invalid ^1 DEMO/steps/a.md:2:61: `needs` must be a text, not a list
            error expression_invalid ^3 DEMO/steps/a.md:2:83: `needs.when`: there is no name `flw` (did you mean `flow`?)
        "#]],
    );
}

#[test]
fn products_have_checks() {
    let it = good(
        "produces:\n  - analysis.md\n  - path: \"impl-{{ part.id }}.md\"\n    when: \"vars.done\"\n    not_empty: true\n    \
         headings: [\"## \", Risks]\n    matches: \"^a\"\n    schema: {type: object}\n    words: {min: 50, max: 2000}\n    covers: {file: request.md, pattern: 'AC-\\d'}\n    parts: true\n  \
         - {path: b.md, matches: [x, y], not_empty: false, words: {max: 5}}",
    );
    assert!(it.produces[0].checks.is_empty());
    expect![[r###"
        not empty
        heading "## "
        heading "Risks"
        matches ^a None
        schema true
        words Some(50) Some(2000)
        covers AC-\d in request.md
        parts"###]]
    .assert_eq(
        &it.produces[1]
            .checks
            .iter()
            .map(|it| match it {
                Check::NotEmpty => "not empty".to_owned(),
                Check::Heading(it) => format!("heading {it:?}"),
                Check::Matches(it, words) => format!("matches {} {words:?}", it.source()),
                Check::Schema(it) => format!("schema {:?}", it.check(&json!(1)).is_err()),
                Check::Words { min, max } => format!("words {min:?} {max:?}"),
                Check::Covers { file, pattern } => {
                    format!("covers {} in {}", pattern.source(), file.source())
                }
                Check::Rejects(it) => format!("rejects {it:?}"),
                Check::Parts => "parts".to_owned(),
            })
            .collect::<Vec<_>>()
            .join("\n"),
    );
    assert!(it.produces[1].when.is_some());
    assert_eq!(it.produces[2].checks.len(), 3);
    bad(
        "produces: [{path: a.md, not_empty: maybe, headings: Risks, matches: '(', schema: 5, words: {min: 9, max: 2}}]",
        expect![[r#"
            Invalid
            error value_invalid ^5 DEMO/steps/a.md:2:36: `produces.not_empty` must be true or false, not a text
            error value_invalid ^5 DEMO/steps/a.md:2:53: `produces.headings` must be a list, not a text
            error pattern_invalid ^3 DEMO/steps/a.md:2:69: `produces.matches` is not a pattern: unclosed group
            error value_invalid ^1 DEMO/steps/a.md:2:82: `produces.schema` must be a JSON Schema, not a number
            error value_invalid ^1 DEMO/steps/a.md:2:92: `produces.words` wants more than it allows
        "#]],
    );
    bad(
        "produces: [{path: a.md, covers: request.md}, {path: a.md, covers: {file: ../a.md, pattern: '('}}, {path: a.md, covers: {}}]",
        expect![[r#"
            Invalid
            error value_invalid ^10 DEMO/steps/a.md:2:33: `produces.covers` must be a list of a file and a pattern, not a text
            error path_outside ^7 DEMO/steps/a.md:2:74: `../a.md` leads out of the run's root
            error pattern_invalid ^3 DEMO/steps/a.md:2:92: `produces.covers` is not a pattern: unclosed group
            error value_invalid ^1 DEMO/steps/a.md:2:120: `produces.covers` must be a list of a file and a pattern, not a map
        "#]],
    );
    bad(
        "produces: [{not_empty: true}, {path: 'a{{ x }}'}, {path: 'a{{'}, {path: a, words: 5}, {path: a, words: {min: few}}]",
        expect![[r#"
            Invalid
            error key_missing ^1 DEMO/steps/a.md:2:12: `produces` lacks `path`
            error expression_invalid ^1 DEMO/steps/a.md:2:43: `produces.path`: there is no name `x` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)
            error expression_invalid ^2 DEMO/steps/a.md:2:60: `produces.path`: `{{` without `}}`
            error value_invalid ^3 DEMO/steps/a.md:2:110: `produces.words` must be a whole number, not a text
        "#]],
    );
    bad(
        "produces: {a: b}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:11: `produces` must be a list, not a map
    "#]],
    );
}

#[test]
fn criteria_keep_their_order() {
    let it = good("criteria: {tests: All tests pass, docs: 5, abc: x}\nevidence: strict");
    let shown: Vec<String> =
        it.criteria.iter().map(|it| format!("{}={}", it.key, it.text)).collect();
    assert_eq!(shown, ["tests=All tests pass", "docs=5", "abc=x"]);
    assert_eq!(it.evidence, Evidence::Strict);
    assert_eq!(good("evidence: off").evidence, Evidence::Off);
    let given = json!({"docs": "done", "abc": ""});
    assert_eq!(it.missing_evidence(&given).count(), 2);
    bad(
        "criteria: [x]\nevidence: maybe",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:11: `criteria` must be a map, not a list
        error value_invalid ^5 DEMO/steps/a.md:3:11: `evidence` cannot be `maybe` (known: `strict`, `warn`, `off`)
    "#]],
    );
    bad(
        "criteria: {a: , b: [x]}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:13: `criteria.a` must be a text, not nothing
        error value_invalid ^1 DEMO/steps/a.md:2:20: `criteria.b` must be a text, not a list
    "#]],
    );
}

#[test]
fn checks_are_commands() {
    let it = good("checks: [{run: [cargo, test]}, {run: [sleep, 5], timeout: 90s}]");
    assert_eq!(it.checks[0].run, ["cargo", "test"]);
    assert_eq!(it.checks[0].timeout.as_secs(), 600);
    assert_eq!(it.checks[1].run, ["sleep", "5"]);
    assert_eq!(it.checks[1].timeout.as_secs(), 90);
    bad(
        "checks: [{run: cargo test}, {run: []}, {timeout: 1m}, {run: [x], timeout: 5}, cargo test]",
        expect![[r#"
            Invalid
            error value_invalid ^10 DEMO/steps/a.md:2:16: `checks` must be a list, not a text
            error value_invalid ^1 DEMO/steps/a.md:2:35: `checks` has an empty command
            error key_missing ^1 DEMO/steps/a.md:2:40: `checks` lacks `run`
            error value_invalid ^1 DEMO/steps/a.md:2:75: `checks.timeout` is not a duration: `5` (write `90s`, `15m`, `2h`, `1h 30m` or `1d`; at most a year)
            error value_invalid ^10 DEMO/steps/a.md:2:79: `checks` must be a list, not a text
        "#]],
    );
}

#[test]
fn what_is_needed_must_be_there_or_need_not() {
    let it = good("needs: [a.md, {path: b.md, optional: true}, {path: c.md, optional: found}]");
    let presences: Vec<_> = it.needs.iter().map(|it| it.presence).collect();
    assert_eq!(presences, [Presence::Required, Presence::Optional, Presence::Found]);
    bad(
        "needs: [{path: a.md, optional: maybe}]",
        expect![[r#"
        Invalid
        error value_invalid ^5 DEMO/steps/a.md:2:32: `needs.optional` cannot be `maybe` (known: `found`)
    "#]],
    );
}

#[test]
fn what_stands_in_for_a_file_may_have_a_condition() {
    let each = good("each: {parts: p, from: p.md, otherwise: x, otherwise_when: \"flow == 'f'\"}");
    let when = each.each.unwrap().otherwise_when.unwrap();
    assert_eq!(when.source(), "flow == 'f'");
    bad(
        "each: {parts: p, from: p.md, otherwise_when: \"true\"}",
        expect![[r#"
        Invalid
        error value_invalid ^6 DEMO/steps/a.md:2:46: `each.otherwise_when` goes with `otherwise` only
    "#]],
    );
}

#[test]
fn parts_come_from_somewhere() {
    let each = good("each: {parts: tasks, from: tasks.md, otherwise: [Implement]}").each.unwrap();
    assert_eq!((each.parts.as_str(), each.order), ("tasks", Order::Declared));
    assert!(
        matches!(&each.from, PartSource::File { path, otherwise: definition::Otherwise::Parts(parts) } if path.source() == "tasks.md" && parts.len() == 1)
    );
    let each = good("each: {parts: checks, list: [a, {id: b, title: B, mode: parallel, after: [a], files: [x]}, 3]}").each.unwrap();
    assert_eq!(each.order, Order::Parallel);
    let PartSource::Listed(parts) = each.from else { panic!("not listed") };
    expect![[r#"
        a "a" sequential [] []
        b "B" parallel ["x"] [PartId("a")]
        3 "3" sequential [] []"#]]
    .assert_eq(
        &parts
            .iter()
            .map(|it| format!("{} {:?} {} {:?} {:?}", it.id, it.title, it.mode, it.files, it.after))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let each =
        good("each: {parts: items, context: \"context.items\", order: sequence}").each.unwrap();
    assert_eq!(each.order, Order::Sequence);
    assert!(matches!(&each.from, PartSource::Context(it) if it.source() == "context.items"));
    bad(
        "each: {parts: x}",
        expect![[r#"
            Invalid
            error parts_unknown ^1 DEMO/steps/a.md:2:15: no step plans the parts `x` (say where they come from: `from` or `list`)
        "#]],
    );
    bad(
        "each: {from: a.md, list: [x], order: random}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/steps/a.md:2:7: `each` has both `from` and `list`
            error key_missing ^1 DEMO/steps/a.md:2:7: `each` lacks `parts`
            error value_invalid ^6 DEMO/steps/a.md:2:38: `each.order` cannot be `random` (known: `parallel`, `sequence`, `declared`)
        "#]],
    );
    bad(
        "each: {parts: x, list: [], otherwise: [a]}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/steps/a.md:2:24: `each.list` must not be empty
            error value_invalid ^1 DEMO/steps/a.md:2:39: `each.otherwise` goes with `from` only
        "#]],
    );
    bad(
        "each: {parts: x, list: [a, a, {id: b, after: [aa], mode: paralel}, {id: c, after: [aa]}, {title: x}, a/b, {id: d, files: x}]}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/steps/a.md:2:28: there are two parts `a`
            error value_invalid ^7 DEMO/steps/a.md:2:58: `each.list.mode` cannot be `paralel` (did you mean `parallel`?)
            error part_unknown ^1 DEMO/steps/a.md:2:68: there is no part `aa` (did you mean `a`?)
            error key_missing ^1 DEMO/steps/a.md:2:90: `each.list` lacks `id`
            error value_invalid ^3 DEMO/steps/a.md:2:102: `a/b` cannot be the id of a part: a name must not contain a path separator, `..` or a control character
            error value_invalid ^1 DEMO/steps/a.md:2:122: `each.list.files` must be a list, not a text
        "#]],
    );
    bad(
        "each: {parts: x, context: 'context.'}",
        expect![[r#"
        Invalid
        error expression_invalid ^8 DEMO/steps/a.md:2:28: `each.context`: it is not an expression: unexpected end of input, expected identifier or integer
    "#]],
    );
    bad(
        "each: tasks",
        expect![[r#"
        Invalid
        error value_invalid ^5 DEMO/steps/a.md:2:7: `each` must be a map, not a text
    "#]],
    );
}

#[test]
fn a_set_of_parts_is_shared_with_the_step_that_plans_it() {
    let text = "== DEMO/index.md\n- [A](steps/a.md)\n- [B](steps/b.md)\n== DEMO/steps/a.md\n---\neach: {parts: tasks, list: [x]}\n---\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n== DEMO/steps/b.md\n---\neach: {parts: tasks}\n---\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
    let workflow = read(text).unwrap();
    let each = workflow.steps[1].each.as_ref().unwrap();
    assert!(matches!(each.from, PartSource::Shared));
    expect![[r#"
        Invalid
        error parts_unknown ^4 DEMO/steps/b.md:2:15: no step plans the parts `task` (did you mean `tasks`?)
    "#]].assert_eq(&parsed(&text.replace("{parts: tasks}", "{parts: task}")));
}

#[test]
fn the_rest_is_conditions_and_durations() {
    let it = good("skip_when: \"flow == 'light'\"\nlease: 15m\ntimeout: 1h 30m");
    assert_eq!(it.skip_when.unwrap().source(), "flow == 'light'");
    assert_eq!(it.lease.unwrap().as_secs(), 900);
    assert_eq!(it.timeout.unwrap().after.as_secs(), 5400);
    assert_eq!(good("lease: 90s").lease.unwrap().as_secs(), 90);
    assert_eq!(good("lease: 1d").lease.unwrap().as_secs(), 86400);
    bad(
        "skip_when: \"flow ==\"\nlease: 15\ntimeout: soon",
        expect![[r#"
        Invalid
        error expression_invalid ^7 DEMO/steps/a.md:2:13: `skip_when`: it is not an expression: unexpected end of input, expected expression
        error value_invalid ^2 DEMO/steps/a.md:3:8: `lease` is not a duration: `15` (write `90s`, `15m`, `2h`, `1h 30m` or `1d`; at most a year)
        error value_invalid ^4 DEMO/steps/a.md:4:10: `timeout` is not a duration: `soon` (write `90s`, `15m`, `2h`, `1h 30m` or `1d`; at most a year)
    "#]],
    );
    bad(
        "skip_when: \"range(3)\"\nlease: [1m]\ntimeout: 400d",
        expect![[r#"
            Invalid
            error expression_invalid ^5 DEMO/steps/a.md:2:13: `skip_when`: there is no name `range` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)
            error value_invalid ^1 DEMO/steps/a.md:3:8: `lease` must be a text, not a list
            error value_invalid ^4 DEMO/steps/a.md:4:10: `timeout` is not a duration: `400d` (write `90s`, `15m`, `2h`, `1h 30m` or `1d`; at most a year)
        "#]],
    );
}

#[test]
fn mistakes_in_several_steps_are_told_together() {
    let text = "== DEMO/index.md\n---\ntitel: x\n---\n- [A](steps/a.md)\n- [B](steps/b.md)\n- [C](steps/c.md)\n== DEMO/steps/a.md\n---\nnext: X\n---\n# Client Instructions\ny\n== DEMO/steps/b.md\n---\nnext: [\n---\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
    expect![[r#"
        Invalid
        error key_unknown ^5 DEMO/index.md:2:1: there is no key `titel` (did you mean `title`?)
        error step_file_missing ^15 DEMO/index.md:6:3: Step file does not exist: DEMO/steps/c.md
        error step_unknown ^1 DEMO/steps/a.md:2:7: there is no step `X` (known: `A`, `B`, `C`)
        error section_missing ^1 DEMO/steps/a.md: Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md
        error front_matter_invalid ^1 DEMO/steps/b.md:2:7: front matter is not YAML: unclosed bracket '['
    "#]].assert_eq(&parsed(text));
}

#[test]
fn a_file_that_must_be_covered_is_named_as_it_is_in_the_run() {
    let it = good("produces: [{path: a.md, covers: ['work/{{ key }}/plan.md', 'AC-\\d+']}]");
    let check = &it.produces[0].checks[0];
    assert_eq!(check.describe(&json!({"key": "7"})), "everything that `work/7/plan.md` lists");
    assert_eq!(check.describe(&json!({})), "everything that `work/{{ key }}/plan.md` lists");
}
