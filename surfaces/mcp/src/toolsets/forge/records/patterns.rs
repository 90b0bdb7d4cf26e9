//! `patterns.json`: what reviews find again and again.

use definition::Finding;
use insight::past::Patterns;

use super::{
    super::place::Folder,
    files::{self, PATTERNS},
};
use crate::tool::Call;

/// Returns the patterns; none where there is no file.
pub(super) async fn load(call: &Call<'_>) -> Patterns {
    let text = Folder::specs(call).read_large(call, PATTERNS).await;
    text.as_deref().map(Patterns::parse).unwrap_or_default()
}

/// Takes the findings of one review in, also where it has none.
pub(in crate::toolsets::forge) async fn accumulate(
    call: &Call<'_>,
    findings: &[Finding],
    agent: &str,
) -> Result<(), String> {
    let now = call.runtime.now().to_seconds();
    let change = |text: Option<&str>| {
        let mut patterns = text.map(Patterns::parse).unwrap_or_default();
        patterns.accumulate(findings, agent, &now);
        Some(files::pretty(&patterns))
    };
    Folder::specs(call).change(call, PATTERNS, change).await
}
