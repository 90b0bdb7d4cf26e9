//! Shell completions: ids of runs, names of workflows. They only read, and errors give none.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use runtime::{KeyFilter, Order, RunFilter};

use crate::{
    config::{Config, Surroundings},
    failure::Failure,
    join::{Access, Joined},
};

/// How many runs are offered.
const OFFERED_MAX: u32 = 50;

/// Offers runs, by id, and by key where one is typed.
pub(crate) fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    offer(current, &[])
}

/// Offers runs that wait for an answer.
pub(crate) fn waiting(current: &OsStr) -> Vec<CompletionCandidate> {
    offer(current, &["waiting"])
}

/// Offers scenes that have a state.
pub(crate) fn scenes(current: &OsStr) -> Vec<CompletionCandidate> {
    let found = asked(async |joined: Joined| {
        let filter = KeyFilter {
            workflow: mcp::SCENE_GENERATION.to_owned(),
            statuses: Vec::new(),
            scope: String::new(),
            order: Order::Started,
            offset: 0,
            limit: OFFERED_MAX,
        };
        let listing = joined.runtime.list_keyed(filter).await?;
        let offers = listing.rows.into_iter().filter_map(|row| {
            let about = crate::output::text::line(&row.summary.status);
            let key = row.summary.key?;
            Some(CompletionCandidate::new(key).help(Some(about.into())))
        });
        Ok(offers.collect())
    });
    fitting(found, current)
}

/// Offers workflows.
pub(crate) fn workflows(current: &OsStr) -> Vec<CompletionCandidate> {
    let found = asked(async |joined: Joined| {
        let (listed, _) = joined.runtime.list_workflows();
        let offers = listed.into_iter().map(|it| {
            let title = it.workflow.title.clone();
            CompletionCandidate::new(it.workflow.name.as_str()).help(Some(title.into()))
        });
        Ok(offers.collect())
    });
    fitting(found, current)
}

fn offer(current: &OsStr, statuses: &[&str]) -> Vec<CompletionCandidate> {
    let statuses = statuses.iter().map(|it| (*it).to_owned()).collect();
    let filter = RunFilter { statuses, limit: OFFERED_MAX, ..RunFilter::default() };
    let found = asked(async |joined: Joined| {
        let page = joined.runtime.list_runs(filter.clone()).await?;
        let mut offers = Vec::new();
        for row in page.rows {
            let it = &row.summary;
            let about = format!("{} {}: {}", it.workflow, it.status, it.title);
            let about = crate::output::text::line(&about);
            offers.push(CompletionCandidate::new(row.run.short()).help(Some(about.clone().into())));
            let key = it.key.as_ref().filter(|_| it.is_live);
            offers.extend(key.map(|key| CompletionCandidate::new(key).help(Some(about.into()))));
        }
        Ok(offers)
    });
    fitting(found, current)
}

fn fitting(found: Vec<CompletionCandidate>, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fits = |it: &CompletionCandidate| it.get_value().to_string_lossy().starts_with(&*current);
    found.into_iter().filter(fits).collect()
}

/// Asks the project's database, if there is one and nothing is wrong.
fn asked<F>(question: F) -> Vec<CompletionCandidate>
where
    F: AsyncFnOnce(Joined) -> Result<Vec<CompletionCandidate>, Failure>,
{
    let answer = || -> Result<_, Failure> {
        let config = Config::load(&Surroundings::look(None)?, &[]);
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        tokio.block_on(async { question(Joined::open(config, Access::Existing).await?).await })
    };
    answer().unwrap_or_default()
}
