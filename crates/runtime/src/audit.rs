//! Checks a stored run: that its history is as it was written, that its definition is the one it
//! was begun with, that it holds to the rules, and that what lists show of it follows from it.

use definition::Answers;
use engine::{DecodeError, Refusal, RunId, Summary, fold, summary};
use store::{Filter, Log, Row, StoreError};

use crate::{ExecuteError, Runtime, fault};

/// What was found out about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    pub run: RunId,
    /// How many events it has, as far as they could be read.
    pub events: u64,
    /// The checksum of its log; `None` where that is damaged.
    pub head: Option<String>,
    pub problems: Vec<Problem>,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A stable name: `damaged`, `newer_release`, `definition_unreadable`, `summary_differs`,
    /// `unlisted`, or that of an [`engine::Violation`].
    pub code: &'static str,
    /// The first event that it is about.
    pub seq: Option<u64>,
    pub text: String,
}

impl Runtime {
    /// Checks a run of any project. An error is one of the whole store. `gates` says which answers
    /// count at every gate; `None`: those that the definition says.
    pub async fn audit(&self, run: RunId, gates: Option<Answers>) -> Result<Audit, ExecuteError> {
        // First the row: what is appended meanwhile makes the log longer than it says.
        let filter = Filter { ids: Some((run, run)), limit: 1, ..Filter::default() };
        let row = self.store.list(filter).await.map_err(fault)?.rows.into_iter().next();
        let log = match self.store.load(run, 0).await {
            Ok(Some(log)) => log,
            Ok(None) => return Err(Refusal::RunUnknown(run.to_string()).into()),
            Err(error) => return unreadable(run, error),
        };
        let mut problems = Vec::new();
        match self.judge_log(run, (&log, row.as_ref()), gates).await {
            Ok(found) => problems.extend(found),
            Err(ExecuteError::Refused(refusal @ Refusal::DefinitionUnreadable(_))) => {
                let text = refusal.to_string();
                problems.push(Problem { code: refusal.code(), seq: None, text });
            }
            Err(error) => return Err(error),
        }
        Ok(Audit { run, events: log.length, head: Some(log.head.to_string()), problems })
    }

    /// Returns what is wrong with a log whose every event is as it was written.
    async fn judge_log(
        &self,
        run: RunId,
        (log, row): (&Log, Option<&Row>),
        gates: Option<Answers>,
    ) -> Result<Vec<Problem>, ExecuteError> {
        let state = fold(run, &log.events);
        let workflow = self.workflow_of(&state).await?;
        let row = row.filter(|it| it.length == log.length);
        let differs = row.and_then(|it| compare(&it.summary, &summary(&workflow, &state)));
        let found = engine::audit(&workflow, run, &log.events, gates);
        let broken = found.into_iter().map(|it| Problem {
            code: it.violation.code(),
            seq: Some(it.seq),
            text: it.violation.describe(),
        });
        Ok(broken.chain(differs).collect())
    }
}

/// Words why the log of a run cannot be read, if it is that run's fault.
fn unreadable(run: RunId, error: StoreError) -> Result<Audit, ExecuteError> {
    let (seq, events) = match &error {
        StoreError::DamagedRun { seq, .. } => (Some(*seq), seq.saturating_sub(1)),
        StoreError::Event(DecodeError::Newer { .. } | DecodeError::Corrupt(_)) => (None, 0),
        StoreError::Conflict { .. }
        | StoreError::Deleted { .. }
        | StoreError::KeyTaken { .. }
        | StoreError::RequestSeen { .. }
        | StoreError::Full
        | StoreError::Busy
        | StoreError::NewerSchema { .. }
        | StoreError::Damaged(_)
        | StoreError::Gone { .. }
        | StoreError::Emptied { .. }
        | StoreError::Foreign { .. }
        | StoreError::Database(_) => return Err(fault(error)),
    };
    let problem = Problem { code: error.code(), seq, text: error.to_string() };
    Ok(Audit { run, events, head: None, problems: vec![problem] })
}

/// Compares what is stored of a run for lists with what follows from its log.
fn compare(stored: &Summary, computed: &Summary) -> Option<Problem> {
    let texts = |it: &Summary| {
        [
            ("workflow", it.workflow.clone()),
            ("key", it.key.clone().unwrap_or_default()),
            ("root", it.root.clone()),
            ("status", it.status.clone()),
            ("started_at", it.started_at.to_string()),
            ("updated_at", it.updated_at.to_string()),
            ("ended_at", it.ended_at.map(|it| it.to_string()).unwrap_or_default()),
            ("is_live", it.is_live.to_string()),
            ("holds_key", it.holds_key.to_string()),
            ("step", it.step.clone()),
            ("title", it.title.clone()),
            ("steps_done", it.steps_done.to_string()),
            ("steps_total", it.steps_total.to_string()),
            ("errors", it.errors.to_string()),
        ]
    };
    let pairs = texts(stored).into_iter().zip(texts(computed));
    let differing: Vec<String> = pairs
        .filter(|(stored, computed)| stored != computed)
        .map(|((name, stored), (_, computed))| format!("{name} is `{stored}`, not `{computed}`"))
        .collect();
    let text = format!(
        "lists do not show what follows from its history: {}. The next change of the run corrects this",
        differing.join(", ")
    );
    (!differing.is_empty()).then_some(Problem { code: "summary_differs", seq: None, text })
}

#[cfg(test)]
mod tests {
    use engine::Timestamp;

    use super::*;

    fn listed() -> Summary {
        Summary {
            workflow: "flow".to_owned(),
            key: None,
            root: "/work".to_owned(),
            status: "running".to_owned(),
            is_live: true,
            holds_key: true,
            step: "build".to_owned(),
            title: "A test".to_owned(),
            steps_begun: 1,
            steps_done: 0,
            steps_total: 3,
            errors: 0,
            started_at: Timestamp(1),
            updated_at: Timestamp(2),
            ended_at: None,
            due_at: None,
        }
    }

    #[test]
    fn what_lists_show_is_compared_with_the_log() {
        assert_eq!(compare(&listed(), &listed()), None);
        let changed = Summary { status: "completed".to_owned(), ..listed() };
        let problem = compare(&changed, &listed()).unwrap();
        assert_eq!(problem.code, "summary_differs");
        assert!(
            problem.text.contains("status is `completed`, not `running`. "),
            "{}",
            problem.text
        );
        let counted = Summary { steps_done: 3, errors: 5, is_live: false, ..listed() };
        let problem = compare(&counted, &listed()).unwrap();
        assert!(problem.text.contains("steps_done is `3`, not `0`"), "{}", problem.text);
    }

    #[test]
    fn a_damaged_event_is_the_fault_of_its_run_and_a_full_disk_is_not() {
        let run = RunId::from_bytes([1; 16]);
        let damaged = StoreError::DamagedRun { run, seq: 7, what: "it is missing" };
        let audit = unreadable(run, damaged).unwrap();
        assert_eq!((audit.events, audit.head, audit.problems[0].seq), (6, None, Some(7)));
        unreadable(run, StoreError::Full).unwrap_err();
    }
}
