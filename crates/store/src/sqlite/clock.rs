//! The steady clock: where it stands after each boot of a machine, and how far the wall clocks of
//! those who wrote were from it.

use std::time::Duration;

use engine::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

/// How far wall clocks were ahead of the steady clock, in microseconds. Less than nothing: behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    pub least: i64,
    pub most: i64,
}

/// Returns what the steady clock showed when a machine booted, if that was settled.
pub(super) fn find(
    connection: &Connection,
    boot: &str,
) -> Result<Option<Timestamp>, rusqlite::Error> {
    let mut statement =
        connection.prepare_cached("SELECT \"offset\" FROM clocks WHERE boot = ?1")?;
    statement.query_row(params![boot], |row| row.get(0).map(Timestamp)).optional()
}

/// Settles what the steady clock shows, unless another process did so meanwhile: the wall clock has
/// to do for the time between two boots, but the steady clock never goes back for it.
pub(super) fn anchor(
    connection: &Connection,
    boot: &str,
    uptime: Duration,
    wall: Timestamp,
) -> Result<Timestamp, rusqlite::Error> {
    let uptime = i64::try_from(uptime.as_micros()).unwrap_or(i64::MAX);
    connection.execute(
        "INSERT INTO clocks (boot, \"offset\")
         SELECT ?1, max(?2, ifnull(max(steady), ?2)) - ?3
         FROM (SELECT steady FROM events ORDER BY pos DESC LIMIT 100)
         WHERE true ON CONFLICT DO NOTHING",
        params![boot, wall.0, uptime],
    )?;
    find(connection, boot)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Looks at the newest events since `since`. An event that was taken from a file tells the time that
/// the file tells, and says nothing of a clock.
pub(super) fn spread(
    connection: &Connection,
    since: Timestamp,
) -> Result<Option<Spread>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "WITH newest AS (SELECT run, kind, at, steady FROM events ORDER BY pos DESC LIMIT 1000)
         SELECT min(at - steady), max(at - steady) FROM newest WHERE ?1 <= steady
         AND NOT EXISTS (SELECT 1 FROM newest AS placed WHERE placed.kind = 'RunPlaced'
         AND placed.run = newest.run AND placed.at = newest.at)",
    )?;
    let spread = statement.query_row(params![since.0], |row| {
        let (least, most): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
        Ok(least.zip(most).map(|(least, most)| Spread { least, most }))
    })?;
    Ok(spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    const HOUR: Duration = Duration::from_secs(3600);

    fn filled() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        schema::fill(&connection).unwrap();
        connection
    }

    fn insert(connection: &Connection, seq: i64, kind: &str, (at, steady): (i64, i64)) {
        let sql = "INSERT INTO events (run, seq, v, kind, at, actor, body, steady)
                   VALUES (zeroblob(16), ?1, 1, ?2, ?3, '', '', ?4)";
        connection.execute(sql, params![seq, kind, at, steady]).unwrap();
    }

    #[test]
    fn whoever_comes_first_after_a_boot_sets_the_clock_for_all() {
        let connection = filled();
        let wall = Timestamp(0).after(100 * HOUR);
        assert_eq!(anchor(&connection, "one", HOUR, wall), Ok(Timestamp(0).after(99 * HOUR)));
        let jumped = wall.after(1000 * HOUR);
        assert_eq!(anchor(&connection, "one", HOUR, jumped), Ok(Timestamp(0).after(99 * HOUR)));
        assert_eq!(anchor(&connection, "two", HOUR, jumped), Ok(Timestamp(0).after(1099 * HOUR)));
    }

    #[test]
    fn the_steady_clock_never_goes_back() {
        let connection = filled();
        insert(&connection, 1, "RunStarted", (5, Timestamp(0).after(100 * HOUR).0));
        let found = anchor(&connection, "one", HOUR, Timestamp(7));
        assert_eq!(found, Ok(Timestamp(0).after(99 * HOUR)));
    }

    #[test]
    fn a_spread_is_of_the_clocks_of_those_who_wrote() {
        let connection = filled();
        assert_eq!(spread(&connection, Timestamp(0)), Ok(None));
        insert(&connection, 1, "RunStarted", (-900, 5));
        insert(&connection, 2, "StepEntered", (10, 10));
        insert(&connection, 3, "StepStarted", (50, 20));
        insert(&connection, 4, "RunPlaced", (1, 30));
        let found = spread(&connection, Timestamp(10));
        assert_eq!(found, Ok(Some(Spread { least: 0, most: 30 })));
    }
}
