//! The front matter of a step: what judges its work, and where it leads.

use definition::{Action, Answers, Attempts, Deed, Effect, Spent, Target, Unknown};
use expect_test::expect;

use crate::support::{bad_step as bad, good_step as good};

#[test]
fn a_gate_may_be_as_short_as_true() {
    let gate = good("gate: true").gate.unwrap();
    assert_eq!(gate.ask.source(), "Approve step `A`?");
    let options: Vec<String> =
        gate.options.iter().map(|it| format!("{}={:?}", it.name, it.effect)).collect();
    assert_eq!(options, ["approve=Approve", "reject=Back(StepName(\"A\"))"]);
    assert!(gate.answers.is_none() && gate.unless.is_none() && gate.rounds_max.is_none());
    assert!(gate.holds.is_none());
    assert!(good("gate: false").gate.is_none());
}

#[test]
fn a_gate_may_say_everything() {
    let gate = good(
        "gate:\n  ask: \"Approve the plan for {{ key }}?\"\n  show: [plan.md]\n  options:\n    proceed: approve\n    \
         revise: {back: B}\n    skip: skip\n    fail: fail\n    abandon: cancel\n  answers: relayed\n  unless: \"vars.done\"\n  holds: \"not vars.done\"\n  rounds: 5",
    )
    .gate
    .unwrap();
    assert_eq!(gate.ask.source(), "Approve the plan for {{ key }}?");
    assert_eq!(gate.show[0].source(), "plan.md");
    let names: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["proceed", "revise", "skip", "fail", "abandon"]);
    assert!(matches!(&gate.options[1].effect, Effect::Back(it) if it.as_str() == "B"));
    assert_eq!(gate.answers, Some(Answers::Relayed));
    assert_eq!(gate.unless.unwrap().source(), "vars.done");
    assert_eq!(gate.holds.unwrap().source(), "not vars.done");
    assert_eq!(gate.rounds_max, Some(5));
    bad(
        "gate: yes",
        expect![[r#"
        Invalid
        error value_invalid ^3 DEMO/steps/a.md:2:7: `gate` must be true or a map, not a text
    "#]],
    );
    bad(
        "gate: {ask: '{{ nme }}', show: plan.md, options: {}, answers: x, unless: 'a b', rounds: 0}",
        expect![[r#"
            Invalid
            error expression_invalid ^3 DEMO/steps/a.md:2:17: `gate.ask`: there is no name `nme` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)
            error value_invalid ^7 DEMO/steps/a.md:2:32: `gate.show` must be a list, not a text
            error value_invalid ^1 DEMO/steps/a.md:2:50: `gate.options` must not be empty
            error value_invalid ^1 DEMO/steps/a.md:2:63: `gate.answers` cannot be `x` (known: `verified`, `relayed`)
            error expression_invalid ^3 DEMO/steps/a.md:2:75: `gate.unless`: it is not an expression: unexpected input after expression
            error value_invalid ^1 DEMO/steps/a.md:2:89: `gate.rounds` must be at least 1
        "#]],
    );
    bad(
        "gate: {options: {a: aprove, b: {back: C}, c: {to: B}, d: [x], e: {back: b}}}",
        expect![[r#"
            Invalid
            error value_invalid ^6 DEMO/steps/a.md:2:21: `gate.options.a` cannot be `aprove` (did you mean `approve`?)
            error step_unknown ^1 DEMO/steps/a.md:2:39: there is no step `C` (known: `A`, `B`)
            error value_invalid ^1 DEMO/steps/a.md:2:46: `gate.options.c` must be a text, not a map
            error value_invalid ^1 DEMO/steps/a.md:2:58: `gate.options.d` must be a text, not a list
            error step_unknown ^1 DEMO/steps/a.md:2:73: there is no step `b` (did you mean `B`?)
        "#]],
    );
}

#[test]
fn a_review_sends_back() {
    let review = good(
        "review:\n  of: B\n  read: review-design.md\n  approve: [APPROVE, APPROVE_WITH_NOTES]\n  revise: [REVISE]\n  unknown: ask\n  \
         limits:\n    - {after: 2, then: approve, set: {done: \"true\"}}\n    - {after: 5, then: ask}\n    - {after: 6, then: fail}\n    - {after: 7, then: {goto: B}}",
    )
    .review
    .unwrap();
    assert_eq!(review.of.as_str(), "B");
    assert_eq!(review.read.unwrap().source(), "review-design.md");
    assert_eq!(review.approve, ["APPROVE", "APPROVE_WITH_NOTES"]);
    assert_eq!(review.unknown, Unknown::Ask);
    let limits: Vec<String> = review
        .limits
        .iter()
        .map(|it| format!("{} {:?} {}", it.after, it.then, it.actions.len()))
        .collect();
    assert_eq!(limits, ["2 Approve 1", "5 Ask 0", "6 Fail 0", "7 Goto(StepName(\"B\")) 0"]);
    let short = good("review: {of: B}").review.unwrap();
    assert_eq!(
        (short.approve, short.revise, short.unknown),
        (vec!["APPROVE".to_owned()], vec!["REVISE".to_owned()], Unknown::Refuse)
    );
    bad(
        "review: {approve: [X], revise: [X]}",
        expect![[r#"
            Invalid
            error key_missing ^1 DEMO/steps/a.md:2:9: `review` lacks `of`
            error value_invalid ^1 DEMO/steps/a.md:2:33: verdict `X` cannot both approve and revise
        "#]],
    );
    bad(
        "review: {of: C, read: /x, approve: [], revise: R, unknown: maybe, limits: {}}",
        expect![[r#"
            Invalid
            error step_unknown ^1 DEMO/steps/a.md:2:14: there is no step `C` (known: `A`, `B`)
            error path_outside ^2 DEMO/steps/a.md:2:23: `/x` is an absolute path; artifacts are relative to the run's root
            error value_invalid ^1 DEMO/steps/a.md:2:48: `review.verdicts` must be a map, not a text
            error value_invalid ^1 DEMO/steps/a.md:2:48: `review.verdicts` must have a word that approves and one that revises
            error value_invalid ^5 DEMO/steps/a.md:2:60: `review.unknown` cannot be `maybe` (known: `refuse`, `ask`)
        "#]],
    );
    bad(
        "review: {of: B, limits: [{after: 2}, {then: ask}, {after: 0, then: warn}, {after: 3, then: {goto: Z}}, {after: 3, then: ask, set: {dnoe: \"tru\"}}, {after: 4, then: ask}, {after: 4, then: ask}]}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/steps/a.md:2:26: `review.limits` must be a text, not a map
            error value_invalid ^1 DEMO/steps/a.md:2:38: `review.limits` says after how many times, and `` is not that (write `{3: ask}`)
            error value_invalid ^1 DEMO/steps/a.md:2:59: `review.limits` says after how many times, and `0` is not that (write `{3: ask}`)
            error value_invalid ^4 DEMO/steps/a.md:2:68: `review.limits` cannot be `warn` (known: `ask`, `approve`, `fail`, `goto STEP`)
            error step_unknown ^1 DEMO/steps/a.md:2:99: there is no step `Z` (known: `A`, `B`)
            error var_unknown ^4 DEMO/steps/a.md:2:132: there is no variable `dnoe` (did you mean `done`?)
            error expression_invalid ^3 DEMO/steps/a.md:2:139: `review.limits.set.dnoe`: there is no name `tru` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)
            error value_invalid ^1 DEMO/steps/a.md:2:178: two limits apply after 4 times
        "#]],
    );
    bad(
        "review: B",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:9: `review` must be a map, not a text
    "#]],
    );
}

#[test]
fn attempts_run_out() {
    assert_eq!(good("attempts: 3").attempts, Some(Attempts { max: 3, then: Spent::Fail }));
    assert_eq!(
        good("attempts: {max: 3, then: warn}").attempts,
        Some(Attempts { max: 3, then: Spent::Warn })
    );
    assert_eq!(
        good("attempts: {max: 3, then: ask}").attempts,
        Some(Attempts { max: 3, then: Spent::Ask })
    );
    assert!(matches!(
        good("attempts: {max: 3, then: {goto: B}}").attempts,
        Some(Attempts { then: Spent::Goto(_), .. })
    ));
    bad(
        "attempts: 0",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/steps/a.md:2:11: `attempts` must be at least 1
        "#]],
    );
    bad(
        "attempts: three",
        expect![[r#"
        Invalid
        error value_invalid ^5 DEMO/steps/a.md:2:11: `attempts` must be a whole number, not a text
    "#]],
    );
    bad(
        "attempts: {then: approve}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/steps/a.md:2:11: `attempts` must be a map of one entry (write `{3: ask}`)
        "#]],
    );
}

#[test]
fn successors_may_be_written_short_or_long() {
    let shown = |front: &str| -> String {
        let next = good(front).next;
        next.iter()
            .map(|it| {
                let to = match &it.to {
                    Target::Step(name) => name.to_string(),
                    Target::Finish => "(end)".to_owned(),
                };
                let when = it.when.as_ref().map(|it| format!(" when {}", it.source()));
                let deed = |it: &Action| {
                    if let Deed::Merge(it) = &it.deed {
                        return format!(" merge {}", it.source());
                    }
                    let Deed::Set(set) = &it.deed else { panic!("{it:?}") };
                    set.iter().map(|(name, it)| format!(" {name}:={}", it.source())).collect()
                };
                let deeds: String = it.actions.iter().map(deed).collect();
                let fails = if it.fails { " fails" } else { "" };
                format!("{to}{}{deeds}{fails};", when.unwrap_or_default())
            })
            .collect()
    };
    assert_eq!(shown("next: B"), "B;");
    assert_eq!(shown("next: FINISH"), "(end);");
    assert_eq!(shown("next: [A, B, FINISH]"), "A;B;(end);");
    assert_eq!(
        shown(
            "next:\n  - {to: B, when: \"report.status == 'failure'\", fails: true}\n  - {to: A, set: {rounds: \"vars.rounds + 1\", done: true}, merge: report.details}\n  - FINISH"
        ),
        "B when report.status == 'failure' fails;A done:=true rounds:=vars.rounds + 1 merge report.details;(end);"
    );
    assert_eq!(shown("next: {to: B, when: true}"), "B when true;");
    bad(
        "next: [b, C, FAILED, {to: D}, {when: \"true\"}, 5]",
        expect![[r#"
            Invalid
            error step_unknown ^1 DEMO/steps/a.md:2:8: there is no step `b` (did you mean `B`?)
            error step_unknown ^1 DEMO/steps/a.md:2:11: there is no step `C` (known: `A`, `B`)
            error step_unknown ^1 DEMO/steps/a.md:2:27: there is no step `D` (known: `A`, `B`)
            error key_missing ^1 DEMO/steps/a.md:2:31: `next` lacks `to`
            error step_unknown ^1 DEMO/steps/a.md:2:47: there is no step `5` (known: `A`, `B`)
        "#]],
    );
    bad(
        "next: []",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:7: `next` must not be empty (leave it out for the step listed next, or write `FINISH`)
    "#]],
    );
    bad(
        "next:\n  - to: B\n    when: \"context.x = 1\"\n    set: {x: \"1\", rounds: \"vars.\"}\n    merge: [a]\n    fails: maybe\n  - to: B\n    when: 'context.ok and contxt.é == \"x\"'\n  - to: B\n    when: >\n      contxt.x",
        expect![[r#"
            Invalid
            error expression_invalid ^13 DEMO/steps/a.md:4:12: `next.when`: it is not an expression: unexpected input after expression (compare with `==`)
            error var_unknown ^1 DEMO/steps/a.md:5:11: there is no variable `x` (known: `done`, `rounds`)
            error expression_invalid ^5 DEMO/steps/a.md:5:28: `next.do.set.rounds`: it is not an expression: unexpected end of input, expected identifier or integer
            error value_invalid ^1 DEMO/steps/a.md:6:12: `next.do.merge` must be a text, not a list
            error value_invalid ^5 DEMO/steps/a.md:7:12: `next.fails` must be true or false, not a text
            error expression_invalid ^30 DEMO/steps/a.md:9:12: `next.when`: it is not an expression: unexpected character
            error expression_invalid ^6 DEMO/steps/a.md:12:7: `next.when`: there is no name `contxt` (did you mean `context`?)
        "#]],
    );
}

#[test]
fn a_gate_may_go_by_a_review() {
    bad(
        "gate: {unless: \"true\", reviewed: B}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:34: step `B` is not a review (name a step that has `review`)
    "#]],
    );
    bad(
        "gate: {unless: \"true\", reviewed: nowhere}",
        expect![[r#"
        Invalid
        error step_unknown ^7 DEMO/steps/a.md:2:34: there is no step `nowhere` (known: `A`, `B`)
    "#]],
    );
}
