//! The front matter of a step: each key, good and bad.

use definition::{
    Answers, Attempts, Check, Effect, Evidence, Order, PartSource, Spent, Step, Target, Unknown,
    Work,
};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::{parsed, read, with_step};

fn good(front: &str) -> Step {
    match read(&with_step(front)) {
        Ok(it) => it.steps.into_iter().next().unwrap(),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn bad(front: &str, expected: Expect) {
    expected.assert_eq(&parsed(&with_step(front)));
}

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
    bad("produce: [a.md]\ntimeouts: 1m\nneed: []\nxyzzy: 1", expect![[r#""#]]);
    bad(
        "gate: {aks: x}\nreview: {off: B}\nattempts: {maximum: 3}\nnext: {two: B}\neach: {part: x}\nproduces: [{paht: x}]\nneeds: [{file: x}]\nchecks: [{cmd: x}]",
        expect![[r#""#]],
    );
}

#[test]
fn titles_agents_and_work() {
    let it = good("title: Design\nagent: architect\nwork: none");
    assert_eq!(
        (it.title.as_str(), it.agent.as_deref(), it.work),
        ("Design", Some("architect"), Work::None)
    );
    assert_eq!(good("work: agent").work, Work::Agent);
    bad("title: {}\nagent: []\nwork: nobody", expect![[r#""#]]);
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
    bad("needs: request.md", expect![[r#""#]]);
    bad(
        "needs: [/etc/passwd, ../x.md, a/../../b.md, {when: \"true\"}, [x], {path: x, when: \"flw == 1\"}]",
        expect![[r#""#]],
    );
}

#[test]
fn products_have_checks() {
    let it = good(
        "produces:\n  - analysis.md\n  - path: \"impl-{{ part.id }}.md\"\n    when: \"vars.done\"\n    not_empty: true\n    \
         headings: [\"## \", Risks]\n    matches: \"^a\"\n    schema: {type: object}\n    words: {min: 50, max: 2000}\n  \
         - {path: b.md, matches: [x, y], not_empty: false, words: {max: 5}}",
    );
    assert!(it.produces[0].checks.is_empty());
    expect![[r#""#]].assert_eq(
        &it.produces[1]
            .checks
            .iter()
            .map(|it| match it {
                Check::NotEmpty => "not empty".to_owned(),
                Check::Heading(it) => format!("heading {it:?}"),
                Check::Matches(it) => format!("matches {}", it.source()),
                Check::Schema(it) => format!("schema {:?}", it.check(&json!(1)).is_err()),
                Check::Words { min, max } => format!("words {min:?} {max:?}"),
            })
            .collect::<Vec<_>>()
            .join("\n"),
    );
    assert!(it.produces[1].when.is_some());
    assert_eq!(it.produces[2].checks.len(), 3);
    bad(
        "produces: [{path: a.md, not_empty: maybe, headings: Risks, matches: '(', schema: 5, words: {min: 9, max: 2}}]",
        expect![[r#""#]],
    );
    bad(
        "produces: [{not_empty: true}, {path: 'a{{ x }}'}, {path: 'a{{'}, {path: a, words: 5}, {path: a, words: {min: few}}]",
        expect![[r#""#]],
    );
    bad("produces: {a: b}", expect![[r#""#]]);
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
    bad("criteria: [x]\nevidence: maybe", expect![[r#""#]]);
    bad("criteria: {a: , b: [x]}", expect![[r#""#]]);
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
        expect![[r#""#]],
    );
}

#[test]
fn a_gate_may_be_as_short_as_true() {
    let gate = good("gate: true").gate.unwrap();
    assert_eq!(gate.ask.source(), "Approve step `A`?");
    let options: Vec<String> =
        gate.options.iter().map(|it| format!("{}={:?}", it.name, it.effect)).collect();
    assert_eq!(options, ["approve=Approve", "reject=Back(StepName(\"A\"))"]);
    assert!(gate.answers.is_none() && gate.unless.is_none() && gate.rounds_max.is_none());
    assert!(good("gate: false").gate.is_none());
}

#[test]
fn a_gate_may_say_everything() {
    let gate = good(
        "gate:\n  ask: \"Approve the plan for {{ key }}?\"\n  show: [plan.md]\n  options:\n    proceed: approve\n    \
         revise: {back: B}\n    skip: skip\n    fail: fail\n    abandon: cancel\n  answers: relayed\n  unless: \"vars.done\"\n  rounds: 5",
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
    assert_eq!(gate.rounds_max, Some(5));
    bad("gate: yes", expect![[r#""#]]);
    bad(
        "gate: {ask: '{{ nme }}', show: plan.md, options: {}, answers: x, unless: 'a b', rounds: 0}",
        expect![[r#""#]],
    );
    bad(
        "gate: {options: {a: aprove, b: {back: C}, c: {to: B}, d: [x], e: {back: b}}}",
        expect![[r#""#]],
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
        .map(|it| format!("{} {:?} {}", it.after, it.then, it.set.len()))
        .collect();
    assert_eq!(limits, ["2 Approve 1", "5 Ask 0", "6 Fail 0", "7 Goto(StepName(\"B\")) 0"]);
    let short = good("review: {of: B}").review.unwrap();
    assert_eq!(
        (short.approve, short.revise, short.unknown),
        (vec!["APPROVE".to_owned()], vec!["REVISE".to_owned()], Unknown::Refuse)
    );
    bad("review: {approve: [X], revise: [X]}", expect![[r#""#]]);
    bad(
        "review: {of: C, read: /x, approve: [], revise: R, unknown: maybe, limits: {}}",
        expect![[r#""#]],
    );
    bad(
        "review: {of: B, limits: [{after: 2}, {then: ask}, {after: 0, then: warn}, {after: 3, then: {goto: Z}}, {after: 3, then: ask, set: {dnoe: \"tru\"}}, {after: 4, then: ask}, {after: 4, then: ask}]}",
        expect![[r#""#]],
    );
    bad("review: B", expect![[r#""#]]);
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
    bad("attempts: 0", expect![[r#""#]]);
    bad("attempts: three", expect![[r#""#]]);
    bad("attempts: {then: approve}", expect![[r#""#]]);
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
                let set: String =
                    it.set.iter().map(|(name, it)| format!(" {name}:={}", it.source())).collect();
                let merge = it.merge.as_ref().map(|it| format!(" merge {}", it.source()));
                let fails = if it.fails { " fails" } else { "" };
                format!(
                    "{to}{}{set}{}{fails};",
                    when.unwrap_or_default(),
                    merge.unwrap_or_default()
                )
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
    bad("next: [b, C, FAILED, {to: D}, {when: \"true\"}, 5]", expect![[r#""#]]);
    bad("next: []", expect![[r#""#]]);
    bad(
        "next:\n  - to: B\n    when: \"context.x = 1\"\n    set: {x: \"1\", rounds: \"vars.\"}\n    merge: [a]\n    fails: maybe\n  - to: B\n    when: 'context.ok and contxt.é == \"x\"'\n  - to: B\n    when: >\n      contxt.x",
        expect![[r#""#]],
    );
}

#[test]
fn parts_come_from_somewhere() {
    let each = good("each: {parts: tasks, from: tasks.md, otherwise: [Implement]}").each.unwrap();
    assert_eq!((each.parts.as_str(), each.order), ("tasks", Order::Declared));
    assert!(
        matches!(&each.from, PartSource::File { path, otherwise } if path.source() == "tasks.md" && otherwise.len() == 1)
    );
    let each = good("each: {parts: checks, list: [a, {id: b, title: B, mode: parallel, after: [a], files: [x]}, 3]}").each.unwrap();
    assert_eq!(each.order, Order::Parallel);
    let PartSource::Listed(parts) = each.from else { panic!("not listed") };
    expect![[r#""#]].assert_eq(
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
    bad("each: {parts: x}", expect![[r#""#]]);
    bad("each: {from: a.md, list: [x], order: random}", expect![[r#""#]]);
    bad("each: {parts: x, list: [], otherwise: [a]}", expect![[r#""#]]);
    bad(
        "each: {parts: x, list: [a, a, {id: b, after: [aa], mode: paralel}, {id: c, after: [aa]}, {title: x}, a/b, {id: d, files: x}]}",
        expect![[r#""#]],
    );
    bad("each: {parts: x, context: 'context.'}", expect![[r#""#]]);
    bad("each: tasks", expect![[r#""#]]);
}

#[test]
fn a_set_of_parts_is_shared_with_the_step_that_plans_it() {
    let text = "== DEMO/index.md\n- [A](steps/a.md)\n- [B](steps/b.md)\n== DEMO/steps/a.md\n---\neach: {parts: tasks, list: [x]}\n---\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n== DEMO/steps/b.md\n---\neach: {parts: tasks}\n---\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
    let workflow = read(text).unwrap();
    let each = workflow.steps[1].each.as_ref().unwrap();
    assert!(matches!(each.from, PartSource::Shared));
    expect![[r#""#]].assert_eq(&parsed(&text.replace("{parts: tasks}", "{parts: task}")));
}

#[test]
fn the_rest_is_conditions_and_durations() {
    let it = good("skip_when: \"flow == 'light'\"\nlease: 15m\ntimeout: 1h 30m");
    assert_eq!(it.skip_when.unwrap().source(), "flow == 'light'");
    assert_eq!(it.lease.unwrap().as_secs(), 900);
    assert_eq!(it.timeout.unwrap().after.as_secs(), 5400);
    assert_eq!(good("lease: 90s").lease.unwrap().as_secs(), 90);
    assert_eq!(good("lease: 1d").lease.unwrap().as_secs(), 86400);
    bad("skip_when: \"flow ==\"\nlease: 15\ntimeout: soon", expect![[r#""#]]);
    bad("skip_when: \"range(3)\"\nlease: [1m]\ntimeout: 400d", expect![[r#""#]]);
}

#[test]
fn mistakes_in_several_steps_are_told_together() {
    let text = "== DEMO/index.md\n---\ntitel: x\n---\n- [A](steps/a.md)\n- [B](steps/b.md)\n- [C](steps/c.md)\n== DEMO/steps/a.md\n---\nnext: X\n---\n# Client Instructions\ny\n== DEMO/steps/b.md\n---\nnext: [\n---\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
    expect![[r#""#]].assert_eq(&parsed(text));
}
