//! `workflow_cache_management`: lists the sessions, takes them in from their files, puts old ones
//! away, and keeps the index for searching.

use std::time::Duration;

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Answer, Failure},
    change::change,
    dialect::DialectTool,
    search,
    session::{self, Found, Which},
    upkeep::{self, Cleaned},
    words::{self, Status},
};
use crate::tool::{Call, Done, Effect, Hints};

/// The name of what is searched.
const COLLECTION: &str = "workflow_states";
/// After how many days a session that is over is put away, unless it is said.
const DAYS_DEFAULT: u64 = 30;
const OPERATIONS: &str = "list, restore, stats, regenerate_embeddings, \
                          force_regenerate_embeddings, cleanup, delete";

pub(super) struct WorkflowCacheManagement;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// `list`, `restore`, `stats`, `regenerate_embeddings`, `force_regenerate_embeddings`,
    /// `cleanup` or `delete`
    operation: String,
    /// Whose sessions; `default` unless it is said
    #[schemars(extend("x-default" = "default"))]
    client_id: Option<String>,
    /// For `cleanup`: the age in days; 30 unless it is said
    days: Option<u64>,
    /// For `delete`
    session_id: Option<String>,
}

impl DialectTool for WorkflowCacheManagement {
    type Parameters = Parameters;
    const NAME: &'static str = "workflow_cache_management";
    const TITLE: &'static str = "Manage sessions";
    const DESCRIPTION: &'static str = "List the sessions, restore them from their files, count \
                                       them, rebuild the search index, or put old ones away.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: false, reaches_out: false };

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { operation, client_id, days, session_id } = parameters;
        let client = client_id.unwrap_or_else(|| words::DEFAULT_CLIENT.to_owned());
        let client = words::cut(&client, 120);
        upkeep::look_after(call).await;
        match operation.trim().to_lowercase().as_str() {
            "list" => list(call, &client).await,
            "restore" => restore(call, &client).await,
            "stats" => stats(call, &client).await,
            "regenerate_embeddings" => regenerate(call, false).await,
            "force_regenerate_embeddings" => regenerate(call, true).await,
            "cleanup" => clean_up(call, days.unwrap_or(DAYS_DEFAULT)).await,
            "delete" => delete(call, &session_id.unwrap_or_default()).await,
            _ => Err(invalid(&operation)),
        }
    }
}

async fn of_client(call: &Call<'_>, client: &str) -> Result<Vec<Found>, Failure> {
    let mut sessions = session::list(call.runtime, session::options(call), Which::All).await?;
    sessions.retain(|it| it.record.client_id == client);
    Ok(sessions)
}

async fn list(call: &Call<'_>, client: &str) -> Result<Done<Answer>, Failure> {
    let sessions = of_client(call, client).await?;
    if sessions.is_empty() {
        let none = Answer::new(format!("📭 No cached sessions found for client '{client}'"));
        return Ok(Answer { results: Some(Vec::new()), ..none }.into());
    }
    let (lines, left) = session::lines(&sessions);
    let results = Some(sessions.iter().take(session::LISTED_MAX).map(Found::row).collect());
    let content = format!("📋 **Sessions of client '{client}':**\n\n{lines}{left}");
    Ok(Answer { results, ..Answer::new(content) }.into())
}

async fn restore(call: &Call<'_>, client: &str) -> Result<Done<Answer>, Failure> {
    let before = of_client(call, client).await?.len();
    let failed = upkeep::take_in(call.runtime, session::options(call), None).await;
    let after = of_client(call, client).await?.len();
    let count = after.saturating_sub(before);
    let content = if count == 0 {
        format!("📭 No workflow sessions found to restore for client '{client}'")
    } else {
        format!("✅ Successfully restored {count} workflow session(s) for client '{client}'")
    };
    let warnings = failed.into_iter().map(|(file, problem)| format!("`{file}`: {problem}"));
    Ok(Done { warnings: warnings.collect(), ..Answer::new(content).into() })
}

async fn stats(call: &Call<'_>, client: &str) -> Result<Done<Answer>, Failure> {
    check_cache(call)?;
    let sessions = of_client(call, client).await?;
    let (count, bytes) = session::options(call).memory.with_index(|index| {
        search::update(index, &sessions);
        (index.len(), index.bytes())
    });
    let active = sessions.iter().filter(|it| it.is_active()).count();
    let is_completed = |it: &&Found| it.record.status == Status::Completed.word();
    let completed = sessions.iter().filter(is_completed).count();
    let created = || sessions.iter().map(|it| it.record.created_at.as_str());
    let content = format!(
        "📊 **Cache statistics**\n\n**Collection:** {COLLECTION}\n**Total sessions:** \
         {}\n**Active:** {active}\n**Completed:** {completed}\n**Indexed:** {count}\n**Size:** \
         {bytes} bytes\n**Oldest:** {}\n**Newest:** {}",
        sessions.len(),
        created().min().unwrap_or("none"),
        created().max().unwrap_or("none"),
    );
    Ok(Answer::new(content).into())
}

async fn regenerate(call: &Call<'_>, is_forced: bool) -> Result<Done<Answer>, Failure> {
    check_cache(call)?;
    let sessions = session::list(call.runtime, session::options(call), Which::All).await?;
    let count = session::options(call).memory.with_index(|index| {
        if is_forced {
            index.clear();
        }
        search::update(index, &sessions)
    });
    let how = if is_forced { "all of them" } else { "those that had changed" };
    let content = format!("✅ Regenerated embeddings for {count} session(s): {how}");
    Ok(Answer::new(content).into())
}

async fn clean_up(call: &Call<'_>, days: u64) -> Result<Done<Answer>, Failure> {
    let age = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    let Cleaned { count, failed: warnings } =
        upkeep::clean_up(call.runtime, session::options(call), age).await?;
    let content =
        format!("🧹 Put away {count} session(s) that were over, and not changed for {days} day(s)");
    Ok(Done { warnings, ..Answer::new(content).into() })
}

async fn delete(call: &Call<'_>, id: &str) -> Result<Done<Answer>, Failure> {
    if id.trim().is_empty() {
        let content = "❌ **Error:** `delete` needs a `session_id`";
        return Err(Failure::new("SESSION_REQUIRED", content, "pass `session_id`"));
    }
    let found = session::find(call, id, "").await?.ok_or_else(|| session::unknown(id))?;
    let command = if found.is_active() {
        Command::CancelRun { reason: "the session was deleted".to_owned() }
    } else {
        Command::GiveUpKey
    };
    let found = change(call, &found, command).await?;
    let place = upkeep::put_away(call.runtime, session::options(call), found.run()).await?;
    let place = place.map(|it| format!("; its file is `{it}` now")).unwrap_or_default();
    let content = format!("🗑️ Deleted session `{}`{place}", found.id());
    Ok(found.say(content))
}

fn check_cache(call: &Call<'_>) -> Result<(), Failure> {
    if session::options(call).sessions.cache {
        return Ok(());
    }
    Err(Failure::new(
        "CACHE_DISABLED",
        "❌ Cache mode is not enabled or not available",
        "the user turns it on with `devworkflow.cache = true`; `list` works without it",
    ))
}

fn invalid(operation: &str) -> Failure {
    let operation = words::cut(operation, 60);
    Failure::new(
        "INVALID_OPERATION",
        format!("❌ **Invalid operation:** {operation}. Use one of: {OPERATIONS}"),
        format!("use one of: {OPERATIONS}"),
    )
}
