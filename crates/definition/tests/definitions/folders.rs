//! Folders of Markdown: layout, includes, links, sections, goals. Section 4 of the orchestrator's
//! specification, and its acceptance scenarios A6, A20, A21 and A27.

use std::cell::RefCell;

use definition::{FileError, Files, MemoryFiles, ParseErrorKind, WorkflowName, parse};
use expect_test::{Expect, expect};

use crate::support::{files, parsed, read, with_index};

const STEP: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&parsed(text));
}

/// The names of the steps, or what is wrong.
fn steps(index: &str) -> String {
    let text = format!("== DEMO/index.md\n{index}\n== DEMO/steps/a.md\n{STEP}");
    match read(&text) {
        Ok(it) => it.steps.iter().map(|it| format!("[{}]", it.name)).collect(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_plain_folder_is_a_workflow() {
    let workflow = read(&with_index("", "# Goal\nFind it.\n\n")).unwrap();
    assert_eq!(workflow.name.as_str(), "DEMO");
    assert_eq!(workflow.title, "DEMO");
    assert_eq!(workflow.decider, None);
    let first = workflow.first_step().unwrap();
    assert_eq!(first.name.as_str(), "A");
    assert_eq!(first.title, "A");
    assert_eq!(first.file, "DEMO/steps/a.md");
    assert_eq!(first.goal, "Find it.");
    assert_eq!(first.guidance, "Go on.");
    assert_eq!(first.instructions, "Work.");
    assert!(first.text.starts_with("# Goal\n"));
    assert_eq!(workflow.find_following(&first.name).unwrap().name.as_str(), "B");
    assert_eq!(
        workflow.source.files.keys().collect::<Vec<_>>(),
        ["DEMO/index.md", "DEMO/steps/a.md", "DEMO/steps/b.md"]
    );
}

#[test]
fn what_is_not_there_is_told_in_order() {
    check(
        "",
        expect![[r#"
        NotFound
        error workflow_missing ^1 DEMO: Workflow directory not found: DEMO
    "#]],
    );
    check(
        "== OTHER/index.md\n",
        expect![[r#"
        NotFound
        error workflow_missing ^1 DEMO: Workflow directory not found: DEMO
    "#]],
    );
    check(
        "== DEMO/other.md\n",
        expect![[r#"
        NotFound
        error index_missing ^1 DEMO/index.md: Workflow index file not found: DEMO/index.md
    "#]],
    );
    check(
        "== DEMO/index.md\n- [A](a.md)\n== DEMO/a.md\n",
        expect![[r#"
        NotFound
        error steps_folder_missing ^1 DEMO/steps: Workflow steps directory not found: DEMO/steps
    "#]],
    );
    // A broken index waits until the folders are right.
    check(
        "== DEMO/index.md\n",
        expect![[r#"
        NotFound
        error steps_folder_missing ^1 DEMO/steps: Workflow steps directory not found: DEMO/steps
    "#]],
    );
}

#[test]
fn links_are_found_by_their_pattern_alone() {
    let a = |marker: &str| steps(&format!("{marker}(steps/a.md)"));
    assert_eq!(a("1. [X]"), "[X]");
    assert_eq!(a("12. [X]"), "[X]");
    assert_eq!(a("- [X]"), "[X]");
    assert_eq!(a("* [X]"), "[X]");
    assert_eq!(a("+ [X]"), "[X]");
    assert_eq!(a("- \t [X]"), "[X]");
    assert_eq!(a("\t    - [X]"), "[X]");
    assert_eq!(a("- [  Run Unit Tests ]"), "[Run Unit Tests]");
    assert_eq!(a("- [[X]"), "[[X]");
    let no_step =
        "No steps found in workflow index file: DEMO/index.md (write `1. [Name](steps/name.md)`)";
    for wrong in ["1) [X]", "-[X]", "1.[X]", "[X]", "- see [X]", "- **[X]**", "-\t[X]", "a. [X]"] {
        assert_eq!(a(wrong), no_step, "{wrong}");
    }
    for wrong in ["(steps/a.md#x)", "(steps/a.md \"t\")", "(steps/a.txt)", "()", "(.md)"] {
        assert_eq!(steps(&format!("- [X]{wrong}")), no_step, "{wrong}");
    }
    assert_eq!(steps("- [X](steps/a.md): text [Y](steps/a.md) after"), "[X]");
    assert_eq!(steps("- [X](./steps/../steps//a.md)"), "[X]");
}

#[test]
fn the_order_of_links_is_the_order_of_steps() {
    let index = "\
# Steps
3. [Third](steps/a.md)
  - [Indented](steps/a.md)
1) [No](steps/a.md)
* [Star](steps/a.md) and more

+ [Plus](steps/a.md)
-[No](steps/a.md)
```
- [In code](steps/a.md)
```
~~~~md
- [In code](steps/a.md)
~~~
- [In code](steps/a.md)
~~~~
- [After code](steps/a.md)
  ```text
  - [In code](steps/a.md)
  ```
- [third](steps/a.md)
- [FINISH](steps/a.md)
";
    assert_eq!(steps(index), "[Third][Indented][Star][Plus][After code][third][FINISH]");
}

#[test]
fn a_step_called_finish_closes_the_run() {
    let workflow = read(&format!(
        "== DEMO/index.md\n- [FINISH](steps/f.md)\n- [A](steps/a.md)\n\
         == DEMO/steps/a.md\n{STEP}== DEMO/steps/f.md\n{}",
        STEP.replace("Work.", "Say goodbye.")
    ))
    .unwrap();
    assert_eq!(workflow.finish_instructions(), Some("Say goodbye."));
    assert_eq!(workflow.first_step().unwrap().name.as_str(), "A");
    assert_eq!(workflow.steps.len(), 2);
}

#[test]
fn the_four_mistakes_of_an_index_have_four_texts() {
    check(
        &format!(
            "== DEMO/index.md\n- [A](steps/a.md)\n\n  2. [A](steps/a.md)\n- [A ](steps/a.md)\n== DEMO/steps/a.md\n{STEP}"
        ),
        expect![[r#"
            Invalid
            error step_duplicate ^15 DEMO/index.md:3:6: Duplicate step name 'A' found in workflow index file: DEMO/index.md
            error step_duplicate ^16 DEMO/index.md:4:3: Duplicate step name 'A' found in workflow index file: DEMO/index.md
        "#]],
    );
    check(
        "== DEMO/index.md\n# Nothing\n== DEMO/steps/a.md\n",
        expect![[r#"
        Invalid
        error steps_missing ^1 DEMO/index.md: No steps found in workflow index file: DEMO/index.md (write `1. [Name](steps/name.md)`)
    "#]],
    );
    check(
        &format!("== DEMO/index.md\n```\n- [A](steps/a.md)\n== DEMO/steps/a.md\n{STEP}"),
        expect![[r#"
            Invalid
            error steps_missing ^1 DEMO/index.md: No steps found in workflow index file: DEMO/index.md (the fenced code that begins at DEMO/index.md:1 is never closed)
        "#]],
    );
    check(
        &format!(
            "== DEMO/index.md\n- [A](steps/a.md)\n- [B](steps/b.md)\n== DEMO/steps/a.md\n{STEP}"
        ),
        expect![[r#"
            Invalid
            error step_file_missing ^15 DEMO/index.md:2:3: Step file does not exist: DEMO/steps/b.md
        "#]],
    );
    check(
        &format!("== DEMO/index.md\n- [FINISH](steps/a.md)\n== DEMO/steps/a.md\n{STEP}"),
        expect![[r#"
            Invalid
            error steps_missing ^1 DEMO/index.md: No steps found in workflow index file: DEMO/index.md (write `1. [Name](steps/name.md)`)
        "#]],
    );
}

#[test]
fn reserved_and_unusable_names_are_refused() {
    check(
        &format!(
            "== DEMO/index.md\n- [A](steps/a.md)\n- [FAILED](steps/a.md)\n== DEMO/steps/a.md\n{STEP}"
        ),
        expect![[r#"
            Invalid
            error step_reserved ^20 DEMO/index.md:2:3: a step must not be called `FAILED` (deciders say it to fail a run)
        "#]],
    );
    check(
        &format!(
            "== DEMO/index.md\n- [ ](steps/a.md)\n- [{}](steps/a.md)\n- [a\tb](steps/a.md)\n== DEMO/steps/a.md\n{STEP}",
            "x".repeat(129)
        ),
        expect![[r#"
            Invalid
            error step_name_invalid ^15 DEMO/index.md:1:3: `` cannot name a step: a name must not be empty
            error step_name_invalid ^143 DEMO/index.md:2:3: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` cannot name a step: a name has at most 128 bytes
            error step_name_invalid ^17 DEMO/index.md:3:3: `a	b` cannot name a step: a name must not contain a path separator, `..` or a control character
        "#]],
    );
}

#[test]
fn links_stay_in_the_definitions_folder() {
    let text = |path: &str| {
        format!("== DEMO/index.md\n- [A]({path})\n== DEMO/steps/x\n== SHARED/a.md\n{STEP}")
    };
    check(
        &text("../SHARED/a.md"),
        expect![[r#"
        ok
    "#]],
    );
    check(
        &text("../../SHARED/a.md"),
        expect![[r#"
        Invalid
        error path_outside ^22 DEMO/index.md:1:3: step file `../../SHARED/a.md` leads out of the definitions folder
    "#]],
    );
    check(
        &text("/SHARED/a.md"),
        expect![[r#"
        Invalid
        error path_outside ^17 DEMO/index.md:1:3: step file `/SHARED/a.md` is an absolute path; paths are relative
    "#]],
    );
    check(
        &text("..\\SHARED\\a.md"),
        expect![[r#"
        Invalid
        error path_outside ^19 DEMO/index.md:1:3: step file `..\SHARED\a.md` has a `\`, a drive or a control character in it
    "#]],
    );
    check(
        &text("c:/SHARED/a.md"),
        expect![[r#"
        Invalid
        error path_outside ^19 DEMO/index.md:1:3: step file `c:/SHARED/a.md` has a `\`, a drive or a control character in it
    "#]],
    );
}

#[test]
fn names_that_could_lead_out_are_refused_before_any_file_is_touched() {
    for name in ["../x/DEMO", "", "a/b", "DEMO\0", "..", ".", "a\\b", "a..b", ".hidden", "a\nb"] {
        assert!(WorkflowName::parse(name).is_err(), "{name:?}");
    }
    for name in ["DEMO", "scene-generation", "Größe 2", "a.b"] {
        assert!(WorkflowName::parse(name).is_ok(), "{name:?}");
    }
}

#[test]
fn sections_run_to_the_next_of_the_two_headings() {
    let sections = |text: &str| {
        let text = format!("== DEMO/index.md\n- [A](steps/a.md)\n== DEMO/steps/a.md\n{text}");
        match read(&text) {
            Ok(it) => {
                let step = it.first_step().unwrap();
                format!("{:?} {:?}", step.guidance, step.instructions)
            }
            Err(error) => error.to_string(),
        }
    };
    let check = |text: &str, expected: Expect| expected.assert_eq(&sections(text));
    // The order is free, other headings end nothing, and the edges are trimmed.
    check(
        "# Client Instructions\n\n do \n# Context Expectations\n- x\n\n# Orchestrator Guidance\n\tgo\n## More\n\n",
        expect![[r#""go\n## More" "do \n# Context Expectations\n- x""#]],
    );
    check(
        "  # oRCHESTRATOR gUIDANCE\t\ngo\n\t # CLIENT INSTRUCTIONS  \ndo",
        expect![[r#""go" "do""#]],
    );
    // The last of each counts.
    check(
        "# Orchestrator Guidance\n1\n# Client Instructions\n2\n# Orchestrator Guidance\n3\n",
        expect![[r#""3" "2""#]],
    );
    check(
        "# Orchestrator Guidance\n1\n# Client Instructions\n2\n# Orchestrator Guidance\n\n",
        expect![
            "DEMO/steps/a.md:5:1: Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md (there is nothing under this heading)"
        ],
    );
    // Fenced code has no headings.
    check(
        "# Orchestrator Guidance\ngo\n```\n# Client Instructions\nno\n```\n# Client Instructions\ndo\n~~~\n# Orchestrator Guidance\n~~~\n",
        expect![[
            r#""go\n```\n# Client Instructions\nno\n```" "do\n~~~\n# Orchestrator Guidance\n~~~""#
        ]],
    );
    check(
        "# Orchestrator Guidance\ngo\n```\n# Client Instructions\nno\n",
        expect![
            "Mandatory '# Client Instructions' section not found or is empty in step file: DEMO/steps/a.md (the fenced code that begins at DEMO/steps/a.md:3 is never closed)"
        ],
    );
    // One `#`, single spaces, nothing else on the line.
    check(
        "## Orchestrator Guidance\ngo\n#  Client Instructions\ndo\n",
        expect![[r#"
        DEMO/steps/a.md:1:1: Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md (write exactly `# Orchestrator Guidance`)
        DEMO/steps/a.md:3:1: Mandatory '# Client Instructions' section not found or is empty in step file: DEMO/steps/a.md (write exactly `# Client Instructions`)"#]],
    );
    check(
        "# Orchestrator  Guidance\ngo\n# Client Instructions: x\ndo\n",
        expect![[r#"
            DEMO/steps/a.md:1:1: Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md (write exactly `# Orchestrator Guidance`)
            Mandatory '# Client Instructions' section not found or is empty in step file: DEMO/steps/a.md"#]],
    );
    check(
        "#Orchestrator Guidance\ngo\n# Client Instructions #\ndo\n",
        expect![[r#"
            DEMO/steps/a.md:3:1: Mandatory '# Client Instructions' section not found or is empty in step file: DEMO/steps/a.md (write exactly `# Client Instructions`)
            Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md"#]],
    );
    check(
        "",
        expect![[r#"
        Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md
        Mandatory '# Client Instructions' section not found or is empty in step file: DEMO/steps/a.md"#]],
    );
}

#[test]
fn a_definition_without_guidance_names_the_file_and_the_heading() {
    let text =
        "== DEMO/index.md\n- [A](steps/a.md)\n== DEMO/steps/a.md\n# Client Instructions\ndo\n";
    let error = read(text).unwrap_err();
    assert_eq!(error.kind, ParseErrorKind::Invalid);
    assert_eq!(
        error.to_string(),
        "Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md"
    );
}

#[test]
fn goals_are_found() {
    let goal = |index: &str| {
        read(&format!("== DEMO/index.md\n{index}\n- [A](steps/a.md)\n== DEMO/steps/a.md\n{STEP}"))
            .unwrap()
            .goal
    };
    assert_eq!(goal("# Demo\n## Goal\nBe good.\n\nVery.\n## Steps"), "Be good.\n\nVery.");
    assert_eq!(goal("# Demo\nno\n### Overall Goal:\nBe good."), "Be good.");
    assert_eq!(goal("# Overall Goal\nBe\n## Deep\ngood.\n# Other\nno"), "Be\n## Deep\ngood.");
    assert_eq!(goal("# Demo\n\nBe good.\n\n## Steps\n"), "Be good.");
    assert_eq!(goal("Be good."), "Be good.");
    assert_eq!(goal("before\n# Demo\n# Steps"), "");
    assert_eq!(goal("# Demo\n```\n# Goal\n```\ntext"), "```\n# Goal\n```\ntext");
}

#[test]
fn includes_are_put_in_place() {
    let body = |text: &str| {
        let text = format!(
            "== DEMO/index.md\n- [A](steps/a.md)\n== DEMO/steps/a.md\n{text}{STEP}\
             == DEMO/steps/x.md\nX{{{{file: ../y.md }}}}X\n== DEMO/y.md\nY\n== SHARED/z.md\nZ{{{{file:../DEMO/y.md}}}}"
        );
        match read(&text) {
            Ok(it) => it.first_step().unwrap().text.strip_suffix(STEP).unwrap().to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(body("a {{file:x.md}} b\n"), "a XY\nX\n b\n");
    assert_eq!(body("{{file:x.md}}{{file:x.md}}"), "XY\nX\nXY\nX\n");
    assert_eq!(body("{{file:../../SHARED/z.md}}\n"), "ZY\n\n");
    // In fenced code too: they are resolved before anything else.
    assert_eq!(body("```\n{{file:../y.md}}```\n"), "```\nY\n```\n");
    for verbatim in
        ["{{file: }}", "{{file:}}", "{{ file:x.md }}", "{{ context.name }}", "{file:x.md}"]
    {
        assert_eq!(body(&format!("{verbatim}\n")), format!("{verbatim}\n"));
    }
}

#[test]
fn includes_that_cannot_be_had_are_told_where_they_stand() {
    let text = "\
== DEMO/index.md
# Demo {{file:gone.md}}
- [A](steps/a.md)
== DEMO/steps/a.md
{{file:/etc/passwd}} {{file:../../../x.md}}
{{file:b.md}}
== DEMO/steps/b.md
{{file:a.md}} {{file:b.md}}
é {{file:nope/gone.md}}
";
    check(
        text,
        expect![[r#"
            Invalid
            error include_missing ^16 DEMO/index.md:1:8: Included file not found: DEMO/gone.md (referenced in DEMO/index.md)
            error path_outside ^20 DEMO/steps/a.md:1:1: included file `/etc/passwd` is an absolute path; paths are relative
            error path_outside ^22 DEMO/steps/a.md:1:22: included file `../../../x.md` leads out of the definitions folder
            error section_missing ^1 DEMO/steps/a.md: Mandatory '# Orchestrator Guidance' section not found or is empty in step file: DEMO/steps/a.md
            error section_missing ^1 DEMO/steps/a.md: Mandatory '# Client Instructions' section not found or is empty in step file: DEMO/steps/a.md
            error include_circular ^13 DEMO/steps/b.md:1:1: Circular include detected: DEMO/steps/a.md -> DEMO/steps/b.md -> DEMO/steps/a.md
            error include_circular ^13 DEMO/steps/b.md:1:15: Circular include detected: DEMO/steps/b.md -> DEMO/steps/b.md
            error include_missing ^21 DEMO/steps/b.md:2:3: Included file not found: DEMO/steps/nope/gone.md (referenced in DEMO/steps/b.md)
        "#]],
    );
}

#[test]
fn ten_levels_of_includes_load_and_eleven_do_not() {
    let chain = |levels: usize| {
        let mut text = format!(
            "== DEMO/index.md\n- [A](steps/a.md)\n{{{{file:i1.md}}}}\n== DEMO/steps/a.md\n{STEP}"
        );
        for level in 1..levels {
            text += &format!("== DEMO/i{level}.md\n{{{{file:i{}.md}}}}\n", level + 1);
        }
        text + &format!("== DEMO/i{levels}.md\nend\n")
    };
    assert!(read(&chain(10)).unwrap().index.contains("end"));
    check(
        &chain(11),
        expect![[r#"
        Invalid
        error include_too_deep ^15 DEMO/i10.md:1:1: Maximum include depth (10) exceeded.
    "#]],
    );
}

#[test]
fn links_and_sections_may_be_included() {
    let text = format!(
        "== DEMO/index.md\n# Demo\n{{{{file:../SHARED/list.md}}}}\n\
         == SHARED/list.md\n- [A](steps/a.md)\n- [A](steps/b.md)\n\
         == DEMO/steps/a.md\n# Orchestrator Guidance\n{{{{file:g.md}}}}\n# Client Instructions\nx\n\
         == DEMO/steps/g.md\nIncluded.\n== DEMO/steps/b.md\n{STEP}"
    );
    check(
        &text,
        expect![[r#"
        Invalid
        error step_duplicate ^15 SHARED/list.md:2:3: Duplicate step name 'A' found in workflow index file: DEMO/index.md
    "#]],
    );
    let workflow = read(&text.replace("[A](steps/b.md)", "[B](steps/b.md)")).unwrap();
    assert_eq!(workflow.first_step().unwrap().guidance, "Included.");
    assert!(workflow.source.files.contains_key("SHARED/list.md"));
}

#[test]
fn includes_that_multiply_are_stopped() {
    let mut text = format!(
        "== DEMO/index.md\n- [A](steps/a.md)\n{{{{file:i1.md}}}}\n== DEMO/steps/a.md\n{STEP}"
    );
    for level in 1..10 {
        text += &format!("== DEMO/i{level}.md\n");
        text += &format!("{{{{file:i{}.md}}}}", level + 1).repeat(20);
        text += "\n";
    }
    text += "== DEMO/i10.md\n";
    let error = read(&text).unwrap_err();
    assert!(error.to_string().contains("at most 10000 includes"), "{error}");
    assert!(error.diagnostics.len() <= 100);
}

#[test]
fn windows_files_work() {
    let text = with_index("---\ntitle: Windows\n---\n", "---\nagent: x\n---\n");
    let windows = MemoryFiles(
        files(&text)
            .0
            .into_iter()
            .map(|(path, text)| (path, format!("\u{feff}{}", text.replace('\n', "\r\n"))))
            .collect(),
    );
    let workflow = parse(&WorkflowName::parse("DEMO").unwrap(), &windows).unwrap();
    assert_eq!(workflow.title, "Windows");
    let step = workflow.first_step().unwrap();
    assert_eq!((step.guidance.as_str(), step.instructions.as_str()), ("Go on.", "Work."));
    assert_eq!(step.agent.as_ref().map(definition::Template::source), Some("x"));
    // What is stored is what was read.
    assert!(workflow.source.files["DEMO/index.md"].starts_with("\u{feff}---\r\n"));
}

#[test]
fn a_stored_source_gives_the_same_workflow() {
    let shared = format!(
        "== DEMO/index.md\n- [A](../SHARED/a.md)\n== DEMO/steps/unused.md\n== SHARED/a.md\n{STEP}"
    );
    for text in [with_index("", ""), shared] {
        let first = read(&text).unwrap();
        let again = parse(&first.name, &MemoryFiles(first.source.files.clone())).unwrap();
        assert_eq!(first.digest, again.digest);
        assert_eq!(first.source, again.source);
        let other = WorkflowName::parse("OTHER").unwrap();
        assert!(parse(&other, &MemoryFiles(first.source.files)).is_err());
    }
}

#[test]
fn the_digest_covers_every_file_and_nothing_else() {
    let base = "== DEMO/index.md\n- [A](steps/a.md)\n{{file:../x.md}}\n== DEMO/steps/a.md\n\
        # Orchestrator Guidance\na\n# Client Instructions\nb\n== x.md\nx\n== DEMO/steps/unused.md\nu\n";
    let digest = |text: &str| read(text).unwrap().digest;
    assert_eq!(digest(base), digest(&base.replace("\nu\n", "\nother\n")));
    for (from, to) in [("\nx\n", "\ny\n"), ("\nb\n", "\nc\n"), ("[A]", "[B]")] {
        assert_ne!(digest(base), digest(&base.replace(from, to)), "{from}");
    }
    assert_eq!(digest(base).as_str().len(), 64);
}

#[test]
fn limits_are_kept() {
    let big = format!("{STEP}{}", "x".repeat(1 << 20));
    check(
        &format!("== DEMO/index.md\n- [A](steps/a.md)\n== DEMO/steps/a.md\n{big}"),
        expect![[r#"
            Invalid
            error file_too_large ^1 DEMO/steps/a.md: `DEMO/steps/a.md` cannot be used: it is larger than 1048576 bytes
        "#]],
    );
    let links: String = (0..501).map(|it| format!("- [S{it}](steps/a.md)\n")).collect();
    check(
        &format!("== DEMO/index.md\n{links}== DEMO/steps/a.md\n{STEP}"),
        expect![[r#"
        Invalid
        error steps_too_many ^1 DEMO/index.md: a workflow has at most 500 steps, and here are more
    "#]],
    );
    let mut many = "== DEMO/index.md\n".to_owned();
    many.extend((0..9).map(|it| format!("- [S{it}](steps/{it}.md)\n")));
    for it in 0..9 {
        many += &format!("== DEMO/steps/{it}.md\n{STEP}{}\n", "x".repeat(1_000_000));
    }
    check(
        &many,
        expect![[r#"
        Invalid
        error file_unreadable ^1 DEMO/steps/8.md: `DEMO/steps/8.md` cannot be used: it cannot be read: the definition has more than 8388608 bytes
    "#]],
    );
}

/// Files that fail in their own ways, and remember what was asked for.
struct Faulty(RefCell<Vec<String>>);

impl Files for Faulty {
    fn read(&self, path: &str) -> Result<String, FileError> {
        self.0.borrow_mut().push(path.to_owned());
        match path {
            "DEMO/index.md" => {
                Ok("- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n- [D](d.md)\n".to_owned())
            }
            "DEMO/a.md" => Err(FileError::NotText),
            "DEMO/b.md" => Err(FileError::Outside),
            "DEMO/c.md" => Err(FileError::TooLarge { max: 9 }),
            _ => Err(FileError::Unreadable("disk on fire".to_owned())),
        }
    }

    fn has_folder(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn files_that_cannot_be_read_are_told_one_by_one() {
    let faulty = Faulty(RefCell::default());
    let error = parse(&WorkflowName::parse("DEMO").unwrap(), &faulty).unwrap_err();
    expect![[r#"
        `DEMO/a.md` cannot be used: it is not UTF-8 text
        `DEMO/b.md` cannot be used: it leads out of the definitions folder
        `DEMO/c.md` cannot be used: it is larger than 9 bytes
        `DEMO/d.md` cannot be used: it cannot be read: disk on fire"#]]
    .assert_eq(&error.to_string());
    let asked = faulty.0.into_inner();
    assert_eq!(asked, ["DEMO/index.md", "DEMO/a.md", "DEMO/b.md", "DEMO/c.md", "DEMO/d.md"]);
}
