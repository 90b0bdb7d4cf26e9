//! A copy of a run from some point of its log on, that goes its own way.

use alloc::{string::String, vec::Vec};

use crate::{Actor, Event, Recorded, Refusal, RunId, Timestamp};

/// From where a run is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkPoint {
    /// After this event, and all that was decided together with it.
    Seq(u64),
    /// As it was when this step was last entered.
    Step(String),
}

/// Returns the log of the copy: the events up to the point, and one that says where it came from.
pub fn fork(
    from: RunId,
    log: &[Recorded],
    point: &ForkPoint,
    key: Option<&str>,
    (at, steady, by): (Timestamp, Timestamp, Actor),
) -> Result<Vec<Recorded>, Refusal> {
    let length = log.last().map_or(0, |it| it.seq);
    let seq = match point {
        ForkPoint::Seq(seq) if (1..=length).contains(seq) => find_end(log, *seq),
        ForkPoint::Seq(seq) => return Err(Refusal::SeqUnknown { seq: *seq, length }),
        ForkPoint::Step(step) => find_entry(log, step)?,
    };
    let mut copy: Vec<Recorded> = log.iter().filter(|it| it.seq <= seq).cloned().collect();
    if let (Some(Event::RunStarted(started)), Some(key)) =
        (copy.first_mut().map(|it| &mut it.event), key)
    {
        started.key = Some(String::from(key));
    }
    let event = Event::RunForked { from, seq };
    copy.push(Recorded { seq: seq + 1, at, steady, by, event });
    Ok(copy)
}

/// Returns the last event of the decision that an event belongs to. Half of a decision may lack the
/// question that it ended with.
fn find_end(log: &[Recorded], seq: u64) -> u64 {
    let decisions = log.chunk_by(Recorded::is_together);
    let ends = decisions.filter_map(|it| it.last()).map(|it| it.seq);
    ends.into_iter().find(|end| seq <= *end).unwrap_or(seq)
}

fn find_entry(log: &[Recorded], wanted: &str) -> Result<u64, Refusal> {
    let mut entered = Vec::new();
    for recorded in log.iter().rev() {
        if let Event::StepEntered { step, .. } = &recorded.event {
            if step.as_str() == wanted {
                return Ok(recorded.seq);
            }
            if !entered.contains(step) {
                entered.push(step.clone());
            }
        }
    }
    entered.reverse();
    Err(Refusal::StepNotEntered { step: String::from(wanted), entered })
}
