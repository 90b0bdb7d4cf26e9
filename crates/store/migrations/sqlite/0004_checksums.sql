-- A checksum for each event, which covers the one before it in its run. The program fills both
-- columns for what is there, in the same transaction.
ALTER TABLE events ADD COLUMN sum BLOB NOT NULL DEFAULT x'';

-- The checksum of the last event, so that a log that was cut short is noticed.
ALTER TABLE runs ADD COLUMN head BLOB NOT NULL DEFAULT x'';

-- Tells this database from its copies: a copy that `milepost backup` makes gets another name.
CREATE TABLE identity (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name BLOB NOT NULL
) STRICT;
INSERT INTO identity VALUES (1, randomblob(16));
