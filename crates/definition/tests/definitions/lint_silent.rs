//! What would otherwise go wrong without a word: items that are no steps, names that nobody sets,
//! placeholders that nothing fills in, and routes that nobody wrote.

use definition::{WorkflowName, find_unlinked, parse, parse_new};
use expect_test::{Expect, expect};

use crate::{
    lint::steps,
    support::{files, linted, listed, parsed, with_index},
};

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&linted(text));
}

const SECTIONS: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

#[test]
fn items_in_the_list_of_steps_that_are_no_steps_are_told() {
    let index = "# Goal\n\n- A list that is no list of steps.\n\n# Steps\n\n1. **[Plan](steps/a.md)**\n\
                 2. [Work](steps/b.md)\n   - A remark on it.\n3. Check\n4. [Report](steps/c.md)\n\n\
                 Later, see:\n\n- the [old step](steps/d.md#goal)\n- nothing else\n";
    let text = format!(
        "== DEMO/index.md\n{index}== DEMO/steps/b.md\n{SECTIONS}== DEMO/steps/c.md\n{SECTIONS}"
    );
    check(
        &text,
        expect![[r#"
        warning item_no_step ^25 DEMO/index.md:7:1: this list item is not a step: the run never comes to it (a step starts with its link, without `**`: `1. [Plan](steps/01-plan.md)`)
        warning item_no_step ^8 DEMO/index.md:10:1: this list item is not a step: the run never comes to it (a step starts with its link, without `**`: `1. [Plan](steps/01-plan.md)`)
        warning item_no_step ^33 DEMO/index.md:15:1: this list item is not a step: the run never comes to it (a step starts with its link, without `**`: `1. [Plan](steps/01-plan.md)`)
    "#]],
    );
}

#[test]
fn files_that_no_step_links_to_are_told() {
    let text = format!(
        "== DEMO/index.md\n1. [A](steps/a.md)\n== DEMO/steps/a.md\n{SECTIONS}{{{{file:shared.md}}}}\n\
         == DEMO/steps/shared.md\nx\n== DEMO/steps/b.md\n{SECTIONS}== DEMO/steps/notes.txt\nx\n"
    );
    let files = files(&text);
    let workflow = parse(&WorkflowName::parse("DEMO").unwrap(), &files).unwrap();
    expect![[r#"
        warning file_unlinked ^1 DEMO/steps/b.md: no step links to this file, so no run uses it (link it in `index.md`, such as `1. [Name](steps/name.md)`, or remove it)
    "#]].assert_eq(&listed(&find_unlinked(&workflow, &files)));
}

#[test]
fn steps_that_guidance_sends_a_run_to_must_exist() {
    check(
        &steps(
            "title: x",
            &[
                (
                    "A",
                    "",
                    "On \"success\" go to \"B\" or \"Deploy\", else go back to step \"Nowhere\".",
                ),
                ("B", "", "Say \"Hello\", then go to \"Finish\". Stay on \"B\" until then."),
            ],
        ),
        expect![[r#"
            warning step_unknown ^6 DEMO/steps/A.md:5:28: there is no step `Deploy` (known: `A`, `B`)
            warning step_unknown ^7 DEMO/steps/A.md:5:59: there is no step `Nowhere` (known: `A`, `B`)
        "#]],
    );
}

#[test]
fn placeholders_that_nothing_fills_in_are_told() {
    check(
        "== DEMO/index.md\n- [A](steps/a.md)\n== DEMO/steps/a.md\n---\nproduces: ['x-{{ key }}.md']\n---\n\
         # Orchestrator Guidance\nFINISH\n# Client Instructions\n\nWrite `x-{{ key }}.md` on ${{ inputs.theme }}.\n\
         ```\n{{ this is code }}\n```\n",
        expect![[r#"
            warning placeholder_unfilled ^9 DEMO/steps/a.md:8:10: nothing fills in `{{ key }}`: the agent reads it as it is (say where the agent finds the value, such as `theme` in `context`)
            warning placeholder_unfilled ^19 DEMO/steps/a.md:8:27: nothing fills in `${{ inputs.theme }}`: the agent reads it as it is (say where the agent finds the value, such as `theme` in `context`)
        "#]],
    );
}

#[test]
fn conditions_on_the_context_that_may_stop_a_run_are_told() {
    let index = "decider: declared\nparams: {type: object, required: [given], properties: {given: {}, perhaps: {}}}";
    let with = |condition: &str| {
        let front = format!("skip_when: \"{condition}\"");
        steps(index, &[("A", &front, "Report `ready` and `packages`."), ("B", "", "x")])
    };
    check(
        &with("context.ready == true and context.perhaps"),
        expect![[r#"
        warning context_unguarded ^13 DEMO/steps/A.md:2:13: without `ready` in the context, this condition stops the run (write `context.ready is defined and …`, or `context.ready | default(…)`)
        warning context_unguarded ^15 DEMO/steps/A.md:2:39: without `perhaps` in the context, this condition stops the run (write `context.perhaps is defined and …`, or `context.perhaps | default(…)`)
    "#]],
    );
    for fine in [
        "context.given == 1",
        "context.ready is defined and context.ready == true",
        "context.ready | default(false)",
        "context.perhaps is undefined or context.perhaps",
        "vars is defined",
    ] {
        assert_eq!(linted(&with(fine)), "", "{fine}");
    }
    check(
        &with("context.raedy | default(false)"),
        expect![[r#"
        warning context_unknown ^13 DEMO/steps/A.md:2:13: no step and no parameter says what `context.raedy` is (did you mean `ready`?)
    "#]],
    );
    check(
        &steps(
            index,
            &[
                ("A", "", "Report `packages`."),
                ("B", "each: {parts: p, context: context.package, only: context.unheard_of}", "x"),
            ],
        ),
        expect![[r#"
            warning context_unknown ^1 DEMO/steps/B.md:2:7: no step and no parameter says what `context.package` is (did you mean `packages`?)
            warning context_unknown ^18 DEMO/steps/B.md:2:50: no step and no parameter says what `context.unheard_of` is (name `unheard_of` in the step that sets it, under `context_updates`)
        "#]],
    );
}

#[test]
fn a_next_that_ends_with_a_condition_is_told_and_refused_from_language_3_on() {
    let front = "next: [{to: A, when: 'vars.n < 1'}, {to: B, when: 'vars.n < 2'}]";
    let last = "next: {to: A, when: 'vars.n < 1'}";
    let with = |language: u32| {
        let index = format!("language: {language}\ndecider: declared\nvars: {{n: 0}}");
        steps(&index, &[("A", front, "x"), ("B", last, "x")])
    };
    check(
        &with(2),
        expect![[r#"
            warning next_open ^1 DEMO/steps/A.md:2:37: `next` does not say where the run goes if no condition is true (add a last entry without `when`; `- B` is where the listed order leads)
            warning next_open ^1 DEMO/steps/B.md:2:7: `next` does not say where the run goes if no condition is true (add a last entry without `when`; `- FINISH` is where the listed order leads)
        "#]],
    );
    expect![[r#"
        Invalid
        error next_open ^1 DEMO/steps/A.md:2:37: `next` does not say where the run goes if no condition is true (add a last entry without `when`; `- B` is where the listed order leads)
        error next_open ^1 DEMO/steps/B.md:2:7: `next` does not say where the run goes if no condition is true (add a last entry without `when`; `- FINISH` is where the listed order leads)
    "#]].assert_eq(&parsed(&with(3)));
    let closed = "next: [{to: A, when: 'vars.n < 1'}, B]";
    let fine = |language: u32| {
        let index = format!("language: {language}\ndecider: declared\nvars: {{n: 0}}");
        steps(&index, &[("A", closed, "x"), ("B", "", "x")])
    };
    for language in [1, 2, 3] {
        assert_eq!(linted(&fine(language)), "", "{language}");
    }
}

#[test]
fn front_matter_that_is_not_closed_is_an_error() {
    check(
        &with_index("---\ndecider: declared\n", "\n---\nagent: x\ngate: true\n"),
        expect![[r#"
        error front_matter_open ^3 DEMO/index.md:1:1: the front matter is not closed, so its keys have no effect (write a line `---` after its last key)
        error front_matter_open ^3 DEMO/steps/a.md:2:1: the front matter is not closed, so its keys have no effect (write a line `---` after its last key)
    "#]],
    );
    // It is told beside other mistakes, which may follow from it.
    let text = with_index("---\nlanguage: 3\n", "---\non: {enter: {note: x}}\n---\n");
    expect![[r#"
        Invalid
        error key_unknown ^1 DEMO/steps/a.md:2:5: `on` is a key of language 2 (write `language: 2` in `index.md`)
        error front_matter_open ^3 DEMO/index.md:1:1: the front matter is not closed, so its keys have no effect (write a line `---` after its last key)
    "#]].assert_eq(&parsed(&text));
}

#[test]
fn front_matter_that_is_not_on_line_1_is_told() {
    check(
        &with_index("\n---\ndecider: declared\n---\n", ""),
        expect![[r#"
        error front_matter_late ^3 DEMO/index.md:2:1: the front matter begins on line 2 and not on line 1, so its keys have no effect (move it to line 1)
    "#]],
    );
    check(
        &with_index("# Goal\n\n---\n# Asks.\ndecider: declared\n---\n", ""),
        expect![[r#"
        warning front_matter_late ^3 DEMO/index.md:3:1: the front matter begins on line 3 and not on line 1, so its keys have no effect (move it to line 1)
    "#]],
    );
    check(
        &with_index("", "---\ntitle: A\n---\n# Goal\n---\ngate:\n  show: [a.md]\n---\n"),
        expect![[r#"
        warning front_matter_late ^3 DEMO/steps/a.md:5:1: the front matter begins on line 5 and not on line 1, so its keys have no effect (move its keys to the front matter on line 1)
    "#]],
    );
}

#[test]
fn a_thematic_break_is_not_front_matter() {
    let code = "```yaml\n---\ngate: true\n---\n```\n";
    for prose in ["---\n", "---\nNote: read this.\n", "x\n\n---\ngate: true\n", code] {
        check(&with_index(prose, prose), expect![[""]]);
    }
    check(&with_index("x\n---\ny\n---\nz\n", "# Goal\nA\n\n---\n\nWhy: B\n\n---\n"), expect![[""]]);
}

#[test]
fn lost_front_matter_stops_new_runs_alone() {
    let name = WorkflowName::parse("DEMO").unwrap();
    let files = files(&with_index("", "---\ngate: true\n"));
    parse(&name, &files).unwrap();
    expect!["DEMO/steps/a.md:1:1: the front matter is not closed, so its keys have no effect (write a line `---` after its last key)"].assert_eq(&parse_new(&name, &files).unwrap_err().to_string());
}
