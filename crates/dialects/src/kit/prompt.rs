//! Prompts that a dialect brings: what a person types, and what the agent is then told.

use std::collections::BTreeMap;

/// What was typed for a prompt.
pub type Given = BTreeMap<String, String>;

/// A prompt that a dialect brings.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub arguments: &'static [PromptArgument],
    /// Returns what it says to the agent, or what is wrong with what was typed. It is given its
    /// name too.
    pub says: fn(&str, &Given) -> Result<String, String>,
}

/// What a prompt takes.
#[derive(Debug, Clone, Copy)]
pub struct PromptArgument {
    pub name: &'static str,
    pub description: &'static str,
    pub is_required: bool,
    /// What is offered while it is typed.
    pub choices: &'static [&'static str],
}

/// Says what a prompt cannot do without.
pub fn missing(name: &str, arguments: &[&str]) -> String {
    format!("prompt `{name}` needs: {}", arguments.join(", "))
}
