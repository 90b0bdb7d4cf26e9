//! Prompts, part by part.

use super::*;

const STUB: &str =
    "AGENT NAME ws={workspace} br={branch} sp={spec-name} n={N} keep={foo} {{workspace} {";

const BUDGET: Budget = Budget { all: TOKENS_MAX, friction: 400 };

fn inputs(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

fn assignment<'a>(agent: &'a str, inputs: &'a [String], output: Option<&'a str>) -> Assignment<'a> {
    Assignment {
        agent,
        workspace: "/r/.specs/20260101-x",
        branch: None,
        spec_name: "x",
        input_files: inputs,
        output_file: output,
        verdicts: &[],
        earlier: &[],
    }
}

fn file(text: &str) -> AgentFile<'_> {
    AgentFile { path: "agents/some.md", text: Some(text) }
}

fn pattern(severity: &str, text: &str) -> Pattern {
    Pattern {
        pattern: text.to_owned(),
        severity: severity.to_owned(),
        frequency: 2,
        agent: "design-reviewer".to_owned(),
    }
}

fn history() -> History {
    let similar = |name: &str| Similar {
        name: name.to_owned(),
        one_liner: "Add caching\nto search".to_owned(),
        similarity: 0.821_95,
    };
    History {
        similar: ["one", "two", "three", "four"].map(similar).to_vec(),
        patterns: vec![
            pattern("MINOR", "variable name unclear"),
            pattern("CRITICAL", "missing error check loop"),
            pattern("CRITICAL", "cache invalidation undefined"),
        ],
        friction: vec![Friction {
            category: "test_coverage".to_owned(),
            description: "tests were not run".to_owned(),
            mitigation: "run them first".to_owned(),
            frequency: 1,
        }],
        findings: Vec::new(),
        task: None,
    }
}

fn told(agent: &str, history: History) -> String {
    let layers = Layers { history, ..Layers::default() };
    assemble(&assignment(agent, &[], None), &file("A"), layers, BUDGET).text
}

#[test]
fn a_prompt_begins_with_the_agents_file_and_says_what_to_read_and_write() {
    let inputs = inputs(&["request.md"]);
    let sent = assignment("situation-analyst", &inputs, Some("analysis.md"));
    let prompt = assemble(&sent, &file(STUB), Layers::default(), BUDGET);
    let expected = "AGENT NAME ws=/r/.specs/20260101-x br= sp=x n={N} keep={foo} \
                    {/r/.specs/20260101-x {\n\n\
                    ## Input Artifacts\n\nRead these files before you do anything else:\n\n\
                    - /r/.specs/20260101-x/request.md\n\n\
                    ## Output Artifact\n\n\
                    You must write `/r/.specs/20260101-x/analysis.md` with the Write tool. An answer \
                    in text alone is not enough: the pipeline goes on only once this file is there.";
    assert_eq!(prompt, Prompt { text: expected.to_owned(), warnings: Vec::new() });
}

#[test]
fn what_was_filled_in_is_not_looked_at_again() {
    let mut sent = assignment("architect", &[], None);
    sent.branch = Some("{workspace}");
    sent.spec_name = "{branch}";
    let prompt = assemble(&sent, &file("{spec-name} {branch}"), Layers::default(), BUDGET);
    assert_eq!(prompt.text, "{branch} {workspace}");
}

#[test]
fn the_number_of_the_task_comes_from_the_output_file() {
    let cases = [
        (Some("impl-1.md"), "1"),
        (Some("review-12.md"), "12"),
        (Some("review-design.md"), "{N}"),
        (Some("review-tasks.md"), "{N}"),
        (Some("impl-.md"), "{N}"),
        (Some("design.md"), "{N}"),
        (None, "{N}"),
    ];
    for (output, number) in cases {
        let sent = assignment("implementer", &[], output);
        let text = assemble(&sent, &file("{N}"), Layers::default(), BUDGET).text;
        assert_eq!(text.lines().next(), Some(number), "{output:?}");
    }
}

#[test]
fn a_reviewer_is_told_the_verdicts_it_can_give() {
    let words = |output, verdicts| {
        let sent = Assignment { verdicts, ..assignment("some", &[], Some(output)) };
        assemble(&sent, &file("A"), Layers::default(), BUDGET).text
    };
    let text = words("review-design.md", &["APPROVE", "REVISE"]);
    assert!(text.contains("`## Verdict: APPROVE`, `## Verdict: REVISE`"), "{text}");
    assert!(!words("design.md", &[]).contains("Verdict"));
}

#[test]
fn a_reviewer_is_told_what_the_last_review_found() {
    let earlier = ["[CRITICAL] No rollback".to_owned()];
    let sent = Assignment { earlier: &earlier, ..assignment("impl-reviewer", &[], None) };
    let text = assemble(&sent, &file("A"), Layers::default(), BUDGET).text;
    assert!(text.contains("## Earlier Findings\n\n"), "{text}");
    assert!(text.ends_with("\n\n- [CRITICAL] No rollback"), "{text}");
}

#[test]
fn without_its_file_an_agent_gets_one_line_and_its_sender_a_warning() {
    let inputs = inputs(&["request.md", "analysis.md"]);
    let sent = assignment("investigator", &inputs, Some("investigation.md"));
    let lost = AgentFile { path: "nowhere/investigator.md", text: None };
    let layers = Layers { profile: Some("Languages: Go"), history: history(), feedback: None };
    let prompt = assemble(&sent, &lost, layers, BUDGET);
    let line = "Act as the agent `investigator` of this pipeline: read \
                `/r/.specs/20260101-x/request.md`, `/r/.specs/20260101-x/analysis.md`, and write \
                what you find to `/r/.specs/20260101-x/investigation.md`.";
    assert_eq!(prompt.text, line);
    let [warning] = prompt.warnings.as_slice() else { panic!("{:?}", prompt.warnings) };
    assert!(warning.contains("`nowhere/investigator.md`"), "{warning}");
}

#[test]
fn each_agent_hears_of_the_past_what_it_can_use() {
    let (similar, patterns, friction) =
        ("## Past Similar Pipelines", "## Common Review Findings", "## Known AI Friction Points");
    let cases: [(&str, &[&str]); 6] = [
        ("architect", &[similar, patterns]),
        ("task-decomposer", &[similar, patterns]),
        ("implementer", &[patterns, friction]),
        ("impl-reviewer", &[patterns, friction]),
        ("situation-analyst", &[]),
        ("verifier", &[]),
    ];
    for (agent, expected) in cases {
        let text = told(agent, history());
        let headings: Vec<&str> = text.lines().filter(|it| it.starts_with("## ")).collect();
        assert_eq!(headings, expected, "{agent}");
        let has_minor = ["task-decomposer", "impl-reviewer"].contains(&agent);
        assert_eq!(text.contains("[MINOR]"), has_minor, "{agent}");
    }
}

#[test]
fn the_past_is_told_a_line_a_thing() {
    let text = told("task-decomposer", history());
    assert!(text.contains("\n- one: Add caching to search (similarity 0.82)\n"), "{text}");
    assert!(!text.contains("- four"), "{text}");
    let line = "\n- [MINOR] \"variable name unclear\" (seen 2 times, by design-reviewer)\n";
    assert!(text.contains(line), "{text}");
    let text = told("implementer", history());
    let line = "\n- test_coverage: tests were not run (mitigation: run them first)";
    assert!(text.ends_with(line), "{text}");
}

#[test]
fn an_architect_does_not_hear_again_what_the_review_says() {
    let findings = vec!["Missing error-check: in the loop.".to_owned()];
    let text = told("architect", History { findings, ..history() });
    assert!(text.contains("missing error check loop"), "{text}");
    let findings = vec!["Missing error check in the Loop!".to_owned()];
    let text = told("architect", History { findings, ..history() });
    assert!(!text.contains("missing error check loop"), "{text}");
    assert!(text.contains("cache invalidation undefined"), "{text}");
}

#[test]
fn a_reviewer_hears_what_has_to_do_with_its_task() {
    let about = |title: &str, files: &[&str]| {
        let task = Some(Task { title: title.to_owned(), files: inputs(files) });
        told("impl-reviewer", History { task, ..history() })
    };
    let text = about("Speed up", &["src/cache/store.rs"]);
    assert!(text.contains("cache invalidation") && !text.contains("variable name"), "{text}");
    let text = about("Name every VARIABLE", &[]);
    assert!(text.contains("variable name") && !text.contains("cache invalidation"), "{text}");
    // `error` and `missing` are in every other finding, so they say nothing.
    assert!(!about("Error missing in login", &[]).contains("## Common Review Findings"));
    // Where a task says nothing of itself, nothing is held back.
    assert!(about("Fix it", &["a.c"]).contains("cache invalidation"));
}

#[test]
fn only_so_many_patterns_are_told() {
    let many: Vec<Pattern> = (0..30).map(|it| pattern("CRITICAL", &format!("no {it}"))).collect();
    let text = told("architect", History { patterns: many, ..History::default() });
    assert_eq!(text.matches("[CRITICAL]").count(), 20);
    assert!(text.contains("\"no 19\"") && !text.contains("\"no 20\""), "{text}");
}

fn point(description: &str, frequency: u64) -> Friction {
    Friction {
        category: "testing".to_owned(),
        description: description.to_owned(),
        mitigation: String::new(),
        frequency,
    }
}

#[test]
fn of_what_made_work_hard_an_agent_hears_what_matters_to_its_task() {
    let mut friction: Vec<Friction> =
        (0..200).map(|it| point(&format!("an odd thing {it} that happened once"), 1)).collect();
    friction.push(point("fixtures are slow", 4));
    friction.push(point("the parser has no fixture", 1));
    let task = Some(Task { title: "Teach the parser dates".to_owned(), files: Vec::new() });
    let text = told("implementer", History { friction, task, ..History::default() });
    let lines: Vec<&str> = text.lines().filter(|it| it.starts_with("- ")).collect();
    assert_eq!(lines, ["- testing: the parser has no fixture", "- testing: fixtures are slow"]);
}

#[test]
fn what_made_work_hard_is_cut_to_its_budget() {
    let long = "x".repeat(150);
    let friction: Vec<Friction> = (2..200).map(|it| point(&format!("{long} {it}"), it)).collect();
    let of = |friction_max: usize| {
        let history = History { friction: friction.clone(), ..History::default() };
        let layers = Layers { history, ..Layers::default() };
        let budget = Budget { friction: friction_max, ..BUDGET };
        let sent = assignment("implementer", &[], None);
        let text = assemble(&sent, &file("A"), layers, budget).text;
        let lines: Vec<String> =
            text.lines().filter(|it| it.starts_with("- ")).map(ToOwned::to_owned).collect();
        lines
    };
    let lines = of(400);
    assert!(lines.join("\n").len() <= 1600, "{lines:#?}");
    assert!(5 < lines.len() && lines[0].ends_with(" 199"), "{lines:#?}");
    assert!(of(0).is_empty());
    let once = vec![point("a", 1), point("b", 1), point("c", 1), point("d", 1)];
    let text = told("implementer", History { friction: once, ..History::default() });
    assert!(text.ends_with("- testing: a\n- testing: b\n- testing: c"), "{text}");
}

#[test]
fn the_repository_comes_before_the_past_and_a_persons_word_comes_last() {
    let layers = Layers {
        profile: Some("Languages: Go 80%\n"),
        history: history(),
        feedback: Some("\nUse the cache.\n"),
    };
    let text = assemble(&assignment("architect", &[], None), &file("A"), layers, BUDGET).text;
    assert!(
        text.starts_with("A\n\n## Repository Context\n\nLanguages: Go 80%\n\n## Past"),
        "{text}"
    );
    assert!(text.ends_with("\n\n## Human Feedback\n\nUse the cache."), "{text}");
    let layers = Layers { profile: Some(" "), feedback: Some("\n"), ..Layers::default() };
    let text = assemble(&assignment("architect", &[], None), &file("A"), layers, BUDGET).text;
    assert_eq!(text, "A");
}

/// Returns how many lines each section has, from a budget that is shrunk token by token.
fn shrunk(agent: &str) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for budget in (10..300).rev() {
        let layers =
            Layers { profile: Some("Languages: Go"), history: history(), feedback: Some("Hm.") };
        let sent = assignment(agent, &[], None);
        let text = assemble(&sent, &file("A"), layers, Budget { all: budget, ..BUDGET }).text;
        let (counted, _) = text.split_once("\n\n## Human Feedback").unwrap();
        assert!(counted.len().div_ceil(4) <= budget, "{budget}: {counted}");
        let count = |heading: &str| {
            let body = counted.split(heading).nth(1).and_then(|it| it.split("\n\n## ").next());
            body.map_or(0, |it| it.lines().filter(|it| !it.is_empty()).count())
        };
        let line = format!(
            "repository {} similar {} patterns {} friction {}",
            count("## Repository Context"),
            count("## Past Similar Pipelines"),
            count("## Common Review Findings"),
            count("## Known AI Friction Points"),
        );
        if seen.last() != Some(&line) {
            seen.push(line);
        }
    }
    seen
}

#[test]
fn what_is_dispensable_goes_first() {
    let expected = [
        "repository 1 similar 3 patterns 3 friction 0",
        "repository 1 similar 2 patterns 3 friction 0",
        "repository 1 similar 1 patterns 3 friction 0",
        "repository 1 similar 0 patterns 3 friction 0",
        "repository 1 similar 0 patterns 2 friction 0",
        "repository 1 similar 0 patterns 1 friction 0",
        "repository 1 similar 0 patterns 0 friction 0",
    ];
    assert_eq!(shrunk("task-decomposer"), expected);
    let expected = [
        "repository 1 similar 0 patterns 2 friction 1",
        "repository 1 similar 0 patterns 2 friction 0",
        "repository 1 similar 0 patterns 1 friction 0",
        "repository 1 similar 0 patterns 0 friction 0",
    ];
    assert_eq!(shrunk("implementer"), expected);
}

#[test]
fn an_agent_that_uses_the_budget_up_alone_is_told_nothing_besides() {
    let layers = || Layers { profile: Some("Languages: Go"), ..Layers::default() };
    let sent = assignment("architect", &[], None);
    let long = "x".repeat(40);
    assert_eq!(assemble(&sent, &file(&long), layers(), Budget { all: 10, ..BUDGET }).text, long);
    assert_eq!(assemble(&sent, &file(&long), layers(), Budget { all: 11, ..BUDGET }).text, long);
    assert!(
        assemble(&sent, &file(&long), layers(), Budget { all: 30, ..BUDGET })
            .text
            .contains("Repository Context")
    );
}
