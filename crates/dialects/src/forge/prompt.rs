//! What an agent is told when it is sent out: its own file, what to read and write, what is known of
//! the repository, what past pipelines teach, and what a person said.
//!
//! Pure: anyone who calls has read the files already. Only paths of artifacts go into a prompt, never
//! their contents.

mod history;
#[cfg(test)]
mod tests;
mod words;

pub use history::{Friction, History, Pattern, Similar, Task};

/// How long a prompt may be, in tokens as they are estimated, before less is said of the past.
pub const TOKENS_MAX: usize = 8000;

/// How much is said in a prompt, in tokens as they are estimated.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Of everything, before less is said of the past.
    pub all: usize,
    /// Of what made work hard in past pipelines.
    pub friction: usize,
}

/// How many bytes are taken for one token.
const TOKEN_BYTES: usize = 4;

/// Returns the file of an agent that comes with the program.
pub fn built_in(agent: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(name, _)| *name == agent).map(|(_, text)| *text)
}

/// What an agent is sent out for.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    pub agent: &'a str,
    pub workspace: &'a str,
    pub branch: Option<&'a str>,
    pub spec_name: &'a str,
    pub input_files: &'a [String],
    /// None where several agents go side by side: each then has a file of its own.
    pub output_file: Option<&'a str>,
    /// The verdicts that the output can give.
    pub verdicts: &'a [&'a str],
    /// What a review found the last time, where it judges again.
    pub earlier: &'a [String],
}

/// The file that describes an agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentFile<'a> {
    /// Where it is looked for, as it is named to people.
    pub path: &'a str,
    /// What it says, if it can be read.
    pub text: Option<&'a str>,
}

/// What an agent is told besides its assignment.
#[derive(Debug, Clone, Default)]
pub struct Layers<'a> {
    /// What is known of the repository, a line a fact.
    pub profile: Option<&'a str>,
    pub history: History,
    /// What a person said at the last checkpoint.
    pub feedback: Option<&'a str>,
}

/// What is handed to an agent, and what its sender should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    pub warnings: Vec<String>,
}

/// Puts a prompt together. The person's feedback is never left out, whatever the budget is.
pub fn assemble(
    assignment: &Assignment<'_>,
    file: &AgentFile<'_>,
    layers: Layers<'_>,
    budget: Budget,
) -> Prompt {
    let Layers { profile, history, feedback } = layers;
    let (mut text, warnings) = match file.text {
        Some(agent) => {
            let told = history.for_agent(assignment.agent, budget.friction * TOKEN_BYTES);
            (fit(&duty(assignment, agent), profile, told, budget.all), Vec::new())
        }
        None => (in_short(assignment), vec![missing(assignment.agent, file.path)]),
    };
    if let Some(said) = feedback.map(str::trim).filter(|it| !it.is_empty()) {
        text.push_str("\n\n## Human Feedback\n\n");
        text.push_str(said);
    }
    Prompt { text, warnings }
}

/// Returns which task a file is about, if it is the report or the review of one.
pub fn task_of(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".md")?;
    if matches!(name, "review-design" | "review-tasks") {
        return None;
    }
    let task = name.strip_prefix("impl-").or_else(|| name.strip_prefix("review-"))?;
    (!task.is_empty()).then_some(task)
}

/// Returns the prompt of an agent whose file is missing, in one line.
pub fn in_short(assignment: &Assignment<'_>) -> String {
    let reading: Vec<String> =
        assignment.input_files.iter().map(|it| format!("`{}`", path(assignment, it))).collect();
    let mut text = format!("Act as the agent `{}` of this pipeline", assignment.agent);
    if !reading.is_empty() {
        text.push_str(&format!(": read {}", reading.join(", ")));
    }
    match assignment.output_file {
        Some(file) => {
            text.push_str(&format!(", and write what you find to `{}`.", path(assignment, file)));
        }
        None => text.push('.'),
    }
    text
}

fn missing(agent: &str, path: &str) -> String {
    format!(
        "the file of agent `{agent}` cannot be read: `{path}`; it was sent out with one line of \
         instructions"
    )
}

/// Returns what cannot be left out: the agent's own file, what to read and what to write.
fn duty(assignment: &Assignment<'_>, agent: &str) -> String {
    let mut parts = vec![fill(agent.trim_end(), assignment)];
    if !assignment.input_files.is_empty() {
        let files: Vec<String> =
            assignment.input_files.iter().map(|it| format!("- {}", path(assignment, it))).collect();
        parts.push(format!(
            "## Input Artifacts\n\nRead these files before you do anything else:\n\n{}",
            files.join("\n")
        ));
    }
    if !assignment.earlier.is_empty() {
        let findings: Vec<String> = assignment.earlier.iter().map(|it| format!("- {it}")).collect();
        parts.push(format!(
            "## Earlier Findings\n\nThe last review found this. Check first that it is answered:\n\n{}",
            findings.join("\n")
        ));
    }
    if let Some(file) = assignment.output_file {
        parts.push(output(assignment, file));
    }
    parts.join("\n\n")
}

fn output(assignment: &Assignment<'_>, file: &str) -> String {
    let whole = path(assignment, file);
    let mut text = format!(
        "## Output Artifact\n\nYou must write `{whole}` with the Write tool. An answer in text \
         alone is not enough: the pipeline goes on only once this file is there."
    );
    if !assignment.verdicts.is_empty() {
        let lines: Vec<String> =
            assignment.verdicts.iter().map(|it| format!("`## Verdict: {it}`")).collect();
        text.push_str(&format!(
            "\n\nOne line of it must be your verdict, exactly as one of these: {}.",
            lines.join(", ")
        ));
    }
    text
}

fn path(assignment: &Assignment<'_>, file: &str) -> String {
    format!("{}/{file}", assignment.workspace.trim_end_matches('/'))
}

/// Fills in what is in braces and known. What was filled in is not looked at again, and other braces
/// stay as they are.
fn fill(text: &str, assignment: &Assignment<'_>) -> String {
    let task = assignment.output_file.and_then(task_of);
    let known = [
        ("{workspace}", Some(assignment.workspace)),
        ("{branch}", Some(assignment.branch.unwrap_or_default())),
        ("{spec-name}", Some(assignment.spec_name)),
        ("{N}", task),
    ];
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.find('{').and_then(|it| rest.split_at_checked(it)) {
        filled.push_str(before);
        let found = known.iter().find_map(|(name, value)| from.strip_prefix(name).zip(*value));
        rest = match found {
            Some((after, value)) => {
                filled.push_str(value);
                after
            }
            None => {
                filled.push('{');
                from.strip_prefix('{').unwrap_or_default()
            }
        };
    }
    filled.push_str(rest);
    filled
}

/// Adds as much of what is good to know as the budget lets through, the most dispensable last.
fn fit(duty: &str, profile: Option<&str>, mut told: history::Told, tokens_max: usize) -> String {
    if tokens_max <= tokens(duty) {
        return duty.to_owned();
    }
    let profile = profile.map(str::trim).filter(|it| !it.is_empty());
    let mut context = profile.map(|it| format!("## Repository Context\n\n{it}"));
    loop {
        let parts = [Some(duty.to_owned()), context.clone()].into_iter().flatten();
        let text = parts.chain(told.sections()).collect::<Vec<_>>().join("\n\n");
        if tokens(&text) <= tokens_max || (!told.drop_one() && context.take().is_none()) {
            return text;
        }
    }
}

/// Returns how many tokens a text is taken to have.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// The files of the agents that come with the program, by their names.
const BUILT_IN: [(&str, &str); 11] = [
    ("situation-analyst", include_str!("../../../../plugin/agents/situation-analyst.md")),
    (
        "situation-analyst-investigator",
        include_str!("../../../../plugin/agents/situation-analyst-investigator.md"),
    ),
    ("investigator", include_str!("../../../../plugin/agents/investigator.md")),
    ("architect", include_str!("../../../../plugin/agents/architect.md")),
    ("design-reviewer", include_str!("../../../../plugin/agents/design-reviewer.md")),
    ("task-decomposer", include_str!("../../../../plugin/agents/task-decomposer.md")),
    ("task-reviewer", include_str!("../../../../plugin/agents/task-reviewer.md")),
    ("implementer", include_str!("../../../../plugin/agents/implementer.md")),
    ("impl-reviewer", include_str!("../../../../plugin/agents/impl-reviewer.md")),
    ("comprehensive-reviewer", include_str!("../../../../plugin/agents/comprehensive-reviewer.md")),
    ("verifier", include_str!("../../../../plugin/agents/verifier.md")),
];
