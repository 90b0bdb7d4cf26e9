-- The first schema. Times are microseconds since 1970; ids of runs are the 16 bytes of a UUID.

-- One row an event. `pos` is the order of commits: there is one writer at a time, so a later
-- commit always has a larger number, and a reader that saw `pos` has seen all before it. The only
-- row with `seq` 0 is what stays of a run that was deleted.
CREATE TABLE events (
    pos   INTEGER PRIMARY KEY,
    run   BLOB    NOT NULL CHECK (length(run) = 16),
    seq   INTEGER NOT NULL,
    v     INTEGER NOT NULL,
    kind  TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    actor TEXT    NOT NULL,
    body  TEXT    NOT NULL,
    UNIQUE (run, seq)
) STRICT;

-- One row a run: what the engine computed for lists, and the length that an append is checked
-- against.
CREATE TABLE runs (
    id          INTEGER PRIMARY KEY,
    run         BLOB    NOT NULL UNIQUE CHECK (length(run) = 16),
    project     TEXT    NOT NULL,
    length      INTEGER NOT NULL,
    workflow    TEXT    NOT NULL,
    key         TEXT,
    root        TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    is_live     INTEGER NOT NULL,
    step        TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    steps_done  INTEGER NOT NULL,
    steps_total INTEGER NOT NULL,
    errors      INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    due_at      INTEGER
) STRICT;

-- Lists read these two from the end. Every column before `updated_at` is fixed in a query.
CREATE INDEX runs_by_workflow ON runs (project, workflow, status, updated_at, run);
CREATE INDEX runs_by_root ON runs (project, root, workflow, status, updated_at, run);

CREATE INDEX runs_by_key ON runs (key) WHERE key IS NOT NULL;
CREATE INDEX runs_by_due ON runs (due_at) WHERE due_at IS NOT NULL;

-- A key names one live run.
CREATE UNIQUE INDEX runs_live_key ON runs (project, workflow, root, key)
    WHERE is_live AND key IS NOT NULL;

CREATE TABLE definitions (
    digest TEXT NOT NULL PRIMARY KEY,
    name   TEXT NOT NULL,
    source TEXT NOT NULL
) STRICT;

-- What a request id led to. `id` grows with time, so that old ones are found without an index.
-- The others are found by a hash of project and request: ids are long and random, and an index of
-- their text would be the most expensive part of an append.
CREATE TABLE requests (
    id          INTEGER PRIMARY KEY,
    hash        INTEGER NOT NULL,
    project     TEXT    NOT NULL,
    request     TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    run         BLOB    NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    at          INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_by_hash ON requests (hash);

-- Who holds what. A heartbeat moves `until` without touching the log.
CREATE TABLE leases (
    run        BLOB    NOT NULL REFERENCES runs (run),
    generation INTEGER NOT NULL,
    step       TEXT    NOT NULL,
    part       TEXT,
    holder     TEXT    NOT NULL,
    until      INTEGER NOT NULL,
    PRIMARY KEY (run, generation)
) STRICT, WITHOUT ROWID;

-- Words of events by `pos`. `run` holds the run's id as one word, so that a search within one run
-- does not look at the others.
CREATE VIRTUAL TABLE search USING fts5 (
    text, run, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);

-- Up to which event `search` is filled. Moved in the same transaction as the words.
CREATE TABLE search_position (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    pos INTEGER NOT NULL
) STRICT;
INSERT INTO search_position VALUES (1, 0);
