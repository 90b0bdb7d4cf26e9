-- Who holds a key, which run of a key is the newest, and the files that runs owe.

-- The engine says who holds a key. Until now it was every live run.
ALTER TABLE runs ADD COLUMN holds_key INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET holds_key = is_live;
DROP INDEX runs_live_key;
CREATE UNIQUE INDEX runs_holding_key ON runs (project, workflow, root, key)
    WHERE holds_key AND key IS NOT NULL;

-- How many steps were taken up. Known from the next append on.
ALTER TABLE runs ADD COLUMN steps_begun INTEGER NOT NULL DEFAULT 1;

-- Whether a run with the same key was begun later.
ALTER TABLE runs ADD COLUMN is_shadowed INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET is_shadowed = 1 WHERE key IS NOT NULL AND id NOT IN
    (SELECT max(id) FROM runs WHERE key IS NOT NULL GROUP BY project, workflow, root, key);
DROP INDEX runs_by_key;
CREATE INDEX runs_by_key ON runs (key, project, workflow, root, is_shadowed)
    WHERE key IS NOT NULL;

-- The newest of each key as they are listed, with all that they are picked by. Nothing in it
-- changes with every append.
CREATE INDEX runs_newest ON runs (project, workflow, started_at DESC, key, run, root, status,
    is_shadowed) WHERE key IS NOT NULL AND NOT is_shadowed;

-- Files that are written from a run's log: the length they must show, and what was written.
-- `modified` is in nanoseconds, as files have it. Project and workflow are those of the run, so
-- that all files of a workflow are read without looking at each run.
CREATE TABLE files (
    run      BLOB    NOT NULL REFERENCES runs (run),
    path     TEXT    NOT NULL,
    project  TEXT    NOT NULL,
    workflow TEXT    NOT NULL,
    owed     INTEGER NOT NULL,
    written  INTEGER NOT NULL,
    sha256   TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    PRIMARY KEY (run, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_owed ON files (run, path) WHERE written < owed;
