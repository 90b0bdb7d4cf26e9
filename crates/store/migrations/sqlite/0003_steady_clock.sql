-- A clock that does not jump, and what it showed at each event.

-- Microseconds of the steady clock. NULL in events of earlier releases: there `at` has to do.
ALTER TABLE events ADD COLUMN steady INTEGER;

-- What the steady clock shows, for each boot of a machine: its uptime and this, in microseconds.
-- Whoever uses the database first after a boot writes the row. Nobody changes it.
CREATE TABLE clocks (
    boot     TEXT    NOT NULL PRIMARY KEY,
    "offset" INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
