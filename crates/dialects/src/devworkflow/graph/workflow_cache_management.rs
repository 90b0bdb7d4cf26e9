//! `workflow_cache_management`: lists the sessions, takes them in from their files, puts old ones
//! away, and keeps the index for searching.

use core::time::Duration;

use engine::{Command, Entry};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Answer, Failure, ask, tell},
    change, search,
    session::{self, Found, Which},
    words::{self, Status},
};
use crate::kit::{
    Ask, Caller, Done, Effect, Hints, Indexing, Look, Stopped, Tell, Tended, Tool, Upkeep,
};

/// The name of what is searched.
const COLLECTION: &str = "workflow_states";
/// After how many days a session that is over is put away, unless it is said.
const DAYS_DEFAULT: u64 = 30;
const OPERATIONS: &str = "list, restore, stats, regenerate_embeddings, \
                          force_regenerate_embeddings, cleanup, delete";

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct WorkflowCacheManagement {
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

impl Tool for WorkflowCacheManagement {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "workflow_cache_management";
    const TITLE: &'static str = "Manage sessions";
    const DESCRIPTION: &'static str = "List the sessions, restore them from their files, count \
                                       them, rebuild the search index, or put old ones away.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: false, reaches_out: false };

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let Self { operation, client_id, days, session_id } = self;
        let client = client_id.unwrap_or_else(|| words::DEFAULT_CLIENT.to_owned());
        let client = words::cut(&client, 120);
        match operation.trim().to_lowercase().as_str() {
            "list" => Ok(of_client(caller, client, |client, it| ask(Ok(list(&client, &it))))),
            "restore" => Ok(restore(caller, client)),
            "stats" => stats(caller, client),
            "regenerate_embeddings" => regenerate(caller, false),
            "force_regenerate_embeddings" => regenerate(caller, true),
            "cleanup" => Ok(clean_up(days.unwrap_or(DAYS_DEFAULT))),
            "delete" => delete(caller, &session_id.unwrap_or_default()),
            _ => Err(invalid(&operation)),
        }
    }
}

/// Looks for the sessions of a client.
fn of_client<N: From<Look<N>> + From<Tell> + 'static>(
    caller: &Caller,
    client: String,
    then: impl FnOnce(String, Vec<Found>) -> N + Send + 'static,
) -> N {
    let see = |(client, all): &mut (String, Vec<Found>), found: Found| {
        if found.record.client_id == *client {
            all.push(found);
        }
    };
    session::each(caller, Which::All, (client, Vec::new()), see, |seen| match seen {
        Ok((client, sessions)) => then(client, sessions),
        Err(failure) => tell(Err(failure)).into(),
    })
}

fn list(client: &str, sessions: &[Found]) -> Ask {
    if sessions.is_empty() {
        let none = Answer::new(format!("📭 No cached sessions found for client '{client}'"));
        return tell(Ok(Answer { results: Some(Vec::new()), ..none }.into())).into();
    }
    let (lines, left) = session::lines(sessions);
    let results = Some(sessions.iter().take(session::LISTED_MAX).map(Found::row).collect());
    let content = format!("📋 **Sessions of client '{client}':**\n\n{lines}{left}");
    tell(Ok(Answer { results, ..Answer::new(content) }.into())).into()
}

fn restore(caller: &Caller, client: String) -> Ask {
    let by = caller.clone();
    of_client(caller, client, move |client, before| {
        let told = move |tended: Result<Tended, Stopped>| match tended {
            Ok(tended) => of_client(&by, client, move |client, after| {
                let count = after.len().saturating_sub(before.len());
                let content = if count == 0 {
                    format!("📭 No workflow sessions found to restore for client '{client}'")
                } else {
                    format!(
                        "✅ Successfully restored {count} workflow session(s) for client '{client}'"
                    )
                };
                tell(Ok(Done { warnings: tended.problems, ..Answer::new(content).into() }))
            }),
            Err(stopped) => tell(Err(stopped.into())),
        };
        Ask::Tend(Upkeep::TakeIn, Box::new(told))
    })
}

fn stats(caller: &Caller, client: String) -> Result<Ask, Failure> {
    check_cache(caller)?;
    Ok(of_client(caller, client, |_, sessions| {
        let texts = sessions.iter().map(search::entry).collect();
        let indexing = Indexing { texts, ..Indexing::default() };
        Look::Index(
            indexing,
            Box::new(move |indexed| {
                let active = sessions.iter().filter(|it| it.is_active()).count();
                let is_completed = |it: &&Found| it.record.status == Status::Completed.word();
                let completed = sessions.iter().filter(is_completed).count();
                let created = || sessions.iter().map(|it| it.record.created_at.as_str());
                let content = format!(
                    "📊 **Cache statistics**\n\n**Collection:** {COLLECTION}\n**Total sessions:** \
                 {}\n**Active:** {active}\n**Completed:** {completed}\n**Indexed:** \
                 {}\n**Size:** {} bytes\n**Oldest:** {}\n**Newest:** {}",
                    sessions.len(),
                    indexed.count,
                    indexed.bytes,
                    created().min().unwrap_or("none"),
                    created().max().unwrap_or("none"),
                );
                tell(Ok(Answer::new(content).into())).into()
            }),
        )
        .into()
    }))
}

fn regenerate(caller: &Caller, is_cleared: bool) -> Result<Ask, Failure> {
    check_cache(caller)?;
    let see = |texts: &mut Vec<_>, found: Found| texts.push(search::entry(&found));
    Ok(session::each(caller, Which::All, Vec::new(), see, move |texts| {
        ask(texts.map(|texts| {
            let indexing = Indexing { is_cleared, texts, query: None };
            Look::Index(
                indexing,
                Box::new(move |indexed| {
                    let count = indexed.news;
                    let how = if is_cleared { "all of them" } else { "those that had changed" };
                    let content =
                        format!("✅ Regenerated embeddings for {count} session(s): {how}");
                    tell(Ok(Answer::new(content).into())).into()
                }),
            )
            .into()
        }))
    }))
}

fn clean_up(days: u64) -> Ask {
    let age = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    let told = move |tended: Result<Tended, Stopped>| {
        let Tended { count, problems: warnings } = tended?;
        let content = format!(
            "🧹 Put away {count} session(s) that were over, and not changed for {days} day(s)"
        );
        Ok(Done { warnings, ..Answer::new(content).into() })
    };
    Ask::Tend(Upkeep::PutAway(age), Box::new(move |tended| tell(told(tended))))
}

fn delete(caller: &Caller, id: &str) -> Result<Ask, Failure> {
    if id.trim().is_empty() {
        let content = "❌ **Error:** `delete` needs a `session_id`";
        return Err(Failure::new("SESSION_REQUIRED", content, "pass `session_id`"));
    }
    session::find(caller, (id, ""), |found| {
        let found = found.ok_or_else(|| session::none_active(""))?;
        // The search leaves out what was deleted.
        let entry = Entry::Note {
            text: "🗑️ Session deleted".to_owned(),
            tags: vec![words::DELETED.to_owned()],
        };
        let line = Command::RecordEntry { step: None, entry };
        Ok(change::put_away(&found, (Some(line), "the session was deleted"), |found, path| {
            let place = path.map(|it| format!("; its file is `{it}` now")).unwrap_or_default();
            found.say(format!("🗑️ Deleted session `{}`{place}", found.id()))
        }))
    })
}

fn check_cache(caller: &Caller) -> Result<(), Failure> {
    if caller.options.devworkflow.sessions.cache {
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
