//! Questions about runs. They never write.

use std::path::Path;

use engine::{
    Fact, FileFact, Known, Question, Recorded, Refusal, RunId, Shown, Stop, find_drift, find_shown,
};
use store::{Filter, Hits, Listing, Row, Search};

use crate::{
    Cursor, ExecuteError, KeyFilter, Page, Place, RunFilter, Runtime, View, Wanted, fault,
};

/// The most rows of one page.
const PAGE_MAX: u32 = 100;
/// The fewest letters that an id may be shortened to.
const PREFIX_BYTES_MIN: usize = 4;
/// How many runs are named where several are meant.
const AMBIGUOUS_MAX: u32 = 5;

/// A part of a run's log.
#[derive(Debug, Clone)]
pub struct History {
    pub view: View,
    pub events: Vec<Recorded>,
}

impl Runtime {
    /// Returns a run as it is now, or as it was after event `at`.
    pub async fn view(&self, run: RunId, at: Option<u64>) -> Result<View, ExecuteError> {
        match at {
            None => self.load(run).await,
            Some(_) => Ok(self.load_at(run, at).await?.0),
        }
    }

    /// Returns the run that `text` means: an id in either form, the key of a run, which may be
    /// written as a path in the project, or the beginning of an id. Of several runs with one key, the one that lives counts, and of several that live,
    /// the one in this folder.
    pub async fn find_run(&self, text: &str) -> Result<RunId, ExecuteError> {
        let text = text.trim();
        if let Some(run) = RunId::parse(text) {
            return Ok(run);
        }
        if text.is_empty() {
            return Err(Refusal::RunUnknown(text.to_owned()).into());
        }
        for key in [Some(text), self.find_key(text)].into_iter().flatten() {
            if let Some(run) = self.find_by_key(key).await? {
                return Ok(run);
            }
        }
        let ids = RunId::parse_prefix(text).filter(|_| PREFIX_BYTES_MIN <= text.len());
        let Some(ids) = ids else { return Err(Refusal::RunUnknown(text.to_owned()).into()) };
        let filter = Filter { ids: Some(ids), limit: AMBIGUOUS_MAX, ..self.filter() };
        let rows = self.store.list(filter).await.map_err(fault)?.rows;
        one_of(text, &rows)?.ok_or_else(|| Refusal::RunUnknown(text.to_owned()).into())
    }

    /// Returns the key that a path stands for: it may be seen from the root of the project, or be a
    /// whole one in it.
    fn find_key<'a>(&self, text: &'a str) -> Option<&'a str> {
        let inside = text.strip_prefix(self.settings.root.trim_end_matches('/'));
        let inside = inside.and_then(|it| it.strip_prefix('/')).unwrap_or(text);
        let key = inside.trim_start_matches("./").trim_end_matches('/');
        Some(key).filter(|it| !it.is_empty() && *it != text)
    }

    /// Returns the step at whose gate only a person's own answer counts, if that concerns the run now.
    pub fn find_personal<'a>(&self, view: &'a View) -> Option<&'a definition::StepName> {
        engine::find_personal(&view.workflow, &view.state, self.settings.gates)
    }

    /// Returns whether a run is worked on in the folder that such runs have here.
    pub fn is_here(&self, summary: &engine::Summary) -> bool {
        Path::new(&summary.root) == Path::new(self.root_for(&summary.workflow))
    }

    /// Returns the run of this folder that has a key: one that lives, else the newest. A run of
    /// another worktree or project may have the same key, and only its id means it.
    async fn find_by_key(&self, key: &str) -> Result<Option<RunId>, ExecuteError> {
        let filter = Filter { key: Some(key.to_owned()), limit: PAGE_MAX, ..self.filter() };
        let live =
            Filter { statuses: vec!["running".to_owned(), "waiting".to_owned()], ..filter.clone() };
        let live = self.store.list(live).await.map_err(fault)?.rows;
        let (here, elsewhere): (Vec<Row>, Vec<Row>) =
            live.into_iter().partition(|it| self.is_here(&it.summary));
        if let Some(run) = one_of(key, &here)? {
            return Ok(Some(run));
        }
        let all = self.store.list(filter).await.map_err(fault)?.rows;
        if let Some(newest) = all.iter().find(|it| self.is_here(&it.summary)) {
            return Ok(Some(newest.run));
        }
        let Some(other) = elsewhere.first().or(all.first()) else { return Ok(None) };
        let (run, root) = (other.run.short(), other.summary.root.clone());
        Err(Refusal::RunElsewhere { key: key.to_owned(), run, root }.into())
    }

    fn filter(&self) -> Filter {
        Filter { project: Some(self.settings.project.clone()), ..Filter::default() }
    }

    /// Returns a page of runs, the most recently changed first.
    pub async fn list_runs(&self, filter: RunFilter) -> Result<Page, ExecuteError> {
        let limit = filter.limit.clamp(1, PAGE_MAX);
        let wanted = Filter {
            project: Some(self.settings.project.clone()),
            workflow: filter.workflow,
            statuses: filter.statuses,
            key: filter.key,
            after: filter.after.map(|it| (it.at, it.run)),
            limit: limit + 1,
            ..Filter::default()
        };
        let mut rows = self.store.list(wanted).await.map_err(fault)?.rows;
        let has_more = usize::try_from(limit).is_ok_and(|limit| limit < rows.len());
        if has_more {
            rows.pop();
        }
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|it| Cursor { at: it.summary.updated_at, run: it.run });
        Ok(Page { rows, next })
    }

    /// Returns a page of the newest runs of each key of a workflow in this folder, and how many
    /// there are in all.
    pub async fn list_keyed(&self, filter: KeyFilter) -> Result<Listing, ExecuteError> {
        let wanted = Filter {
            project: Some(self.settings.project.clone()),
            root: Some(self.root_for(&filter.workflow).to_owned()),
            workflow: Some(filter.workflow),
            statuses: filter.statuses,
            scope: Some(filter.scope),
            is_newest_of_key: true,
            order: filter.order,
            offset: filter.offset,
            limit: filter.limit,
            counts: true,
            ..Filter::default()
        };
        self.store.list(wanted).await.map_err(fault)
    }

    /// Returns events of a run: the `limit` newest before `before`, oldest of them first.
    pub async fn history(
        &self,
        run: RunId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<History, ExecuteError> {
        let (view, mut events) = self.load_at(run, None).await?;
        if let Some(before) = before {
            events.retain(|it| it.seq < before);
        }
        let surplus = events.len().saturating_sub(limit);
        events.drain(..surplus);
        Ok(History { view, events })
    }

    /// Returns the events that fit `text` best.
    pub async fn search(
        &self,
        text: &str,
        run: Option<RunId>,
        (offset, limit): (u32, u32),
    ) -> Result<Hits, ExecuteError> {
        let project = Some(self.settings.project.clone());
        let limit = limit.clamp(1, PAGE_MAX);
        let search = Search { project, run, text: text.to_owned(), offset, limit };
        self.store.search(search).await.map_err(fault)
    }

    /// Returns what the open gate of a run shows now, if one is open.
    pub async fn find_shown(&self, view: &View) -> Result<Option<Shown>, ExecuteError> {
        let mut known = self.known(view);
        loop {
            match find_shown(&view.workflow, &view.state, &known) {
                Ok(shown) => return Ok(shown),
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => {
                    self.look(&self.folders_of(view), &mut known, questions).await?;
                }
            }
        }
    }

    /// Returns what is now at the place of an artifact that a step of the run left; `None` where
    /// no step did.
    pub async fn read_artifact(
        &self,
        view: &View,
        path: &str,
    ) -> Result<Option<FileFact>, ExecuteError> {
        if !view.state.artifacts.contains_key(path) {
            return Ok(None);
        }
        let mut known = self.known(view);
        let question = Question::File(path.to_owned());
        self.look(&self.folders_of(view), &mut known, vec![question.clone()]).await?;
        Ok(match known.facts.remove(&question) {
            Some(Fact::File(fact)) => Some(fact),
            Some(Fact::Git(_) | Fact::Branch(_) | Fact::Check(_) | Fact::Model(_)) | None => None,
        })
    }

    /// Compares files with what was seen, and returns what changed, with what is known now. A folder that is not here is one warning, not a refusal:
    /// the rest of the brief is as good as ever.
    pub async fn find_drift(&self, view: &View) -> Result<(Known, Vec<String>), ExecuteError> {
        let mut known = self.known(view);
        loop {
            match find_drift(&view.state, &known) {
                Ok(drift) => return Ok((known, drift)),
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => {
                    if let Err(refusal) =
                        self.look(&self.folders_of(view), &mut known, questions).await
                    {
                        return Ok((known, vec![refusal.to_string()]));
                    }
                }
            }
        }
    }

    /// Reads a text in the project; `None` where there is none.
    pub async fn read_text(&self, path: &str) -> Result<Option<String>, String> {
        let question = Question::File(path.to_owned());
        let root = self.settings.root.as_str();
        match self.world.look((root, root), &question).await {
            Some(Fact::File(FileFact::Present { text: Some(text), .. })) => Ok(Some(text)),
            Some(Fact::File(FileFact::Present { text: None, size, .. })) => {
                Err(format!("it is not text, or too large with its {size} bytes"))
            }
            Some(Fact::File(FileFact::Unreadable(problem))) => Err(problem),
            Some(
                Fact::File(FileFact::Missing)
                | Fact::Git(_)
                | Fact::Branch(_)
                | Fact::Check(_)
                | Fact::Model(_),
            )
            | None => Ok(None),
        }
    }

    /// Returns the names of the files right in a folder of the project that are wanted, in order;
    /// `None` where there is no such folder.
    pub async fn list_names(
        &self,
        folder: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<String>>, String> {
        let Some(file_system) = self.world.file_system() else { return Ok(None) };
        let root = self.settings.root.clone();
        let inside = Path::new(&root).join(folder);
        if !file_system.has_folder(&inside.to_string_lossy()).await {
            return Ok(None);
        }
        let place = Place { folder: root.clone(), root, path: folder.to_owned() };
        let found = file_system.scan(&place, wanted).await?;
        let mut names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
        names.sort();
        Ok(Some(names))
    }
}

/// Returns the one run there is, if there is one; several are refused.
fn one_of(text: &str, rows: &[Row]) -> Result<Option<RunId>, Refusal> {
    match rows {
        [] => Ok(None),
        [only] => Ok(Some(only.run)),
        several => {
            let runs = several.iter().map(|it| it.run.short()).collect();
            Err(Refusal::RunAmbiguous { prefix: text.to_owned(), runs })
        }
    }
}
