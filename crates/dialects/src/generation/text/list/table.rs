//! The table itself: every cell exactly as wide as its column.

use engine::Timestamp;
use unicode_width::UnicodeWidthChar as _;

use super::Row;
use crate::generation::{
    document::UNKNOWN,
    words::{STEPS_TOTAL, Status, duration},
};

pub(super) const HEAD: &str = "\
┌────────┬──────────────┬─────────┬──────────────┬──────────┬──────────┐
│ Scene  │ Status       │ Step    │ Started      │ Duration │ Actions  │
├────────┼──────────────┼─────────┼──────────────┼──────────┼──────────┤";

pub(super) const FOOT: &str =
    "└────────┴──────────────┴─────────┴──────────────┴──────────┴──────────┘";

/// How wide the widest duration is.
const DURATION_WIDTH: usize = 8;

/// Returns the line of a row.
pub(super) fn line(row: &Row, now: Timestamp) -> String {
    format!(
        "│ {} │ {} │ {} │ {} │ {} │ {} │",
        cell(&row.scene_id, 6),
        cell(&row.status, 12),
        cell(&format!("{}/{STEPS_TOTAL}", row.step), 7),
        cell(&started(row, now), 12),
        cell(&took(row, now), DURATION_WIDTH),
        cell(action(&row.status), 8),
    )
}

/// Cuts or pads a text to a width on the screen.
fn cell(text: &str, width: usize) -> String {
    let mut cell = String::new();
    let mut used = 0;
    for letter in text.chars() {
        // What has no width of its own, as a line break, would break the table.
        let (letter, wide) = letter.width().map_or((' ', 1), |it| (letter, it));
        if width < used + wide {
            break;
        }
        used += wide;
        cell.push(letter);
    }
    cell.push_str(&" ".repeat(width - used));
    cell
}

/// Says when it began: `14:30 (6m)`, `Yesterday`, `2025-11-01`.
fn started(row: &Row, now: Timestamp) -> String {
    let Some(at) = row.started_at else { return UNKNOWN.to_owned() };
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or_default();
    let clock = time.get(..5).unwrap_or_default();
    let minutes = now.since(at).as_secs() / 60;
    match minutes / 60 {
        0 => format!("{clock} ({minutes}m)"),
        hours @ 1..24 => format!("{clock} ({hours}h)"),
        24..48 => "Yesterday".to_owned(),
        _ => date.to_owned(),
    }
}

/// Says how long it took; the smallest unit is left out where there is no room for it.
fn took(row: &Row, now: Timestamp) -> String {
    let Some(at) = row.started_at else { return UNKNOWN.to_owned() };
    let mut text = duration(row.updated_at.unwrap_or(now).since(at).as_secs_f64());
    while DURATION_WIDTH < text.len() {
        let Some((rest, _)) = text.rsplit_once(' ') else { break };
        text = rest.to_owned();
    }
    text
}

fn action(status: &str) -> &'static str {
    match Status::parse(status) {
        Some(Status::InProgress | Status::WaitingUserApproval) => "[Status]",
        Some(Status::Failed | Status::Cancelled) => "[Resume]",
        Some(Status::Completed) => "[View]",
        None => "-",
    }
}
