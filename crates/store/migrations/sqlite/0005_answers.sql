-- What calls with a request id were answered, so that the same call again gets the same answer.
-- `id` grows with time, as in `requests`; the two tables are found and forgotten alike.
CREATE TABLE answers (
    id          INTEGER PRIMARY KEY,
    hash        INTEGER NOT NULL,
    project     TEXT    NOT NULL,
    request     TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    answer      TEXT    NOT NULL,
    at          INTEGER NOT NULL
) STRICT;
CREATE INDEX answers_by_hash ON answers (hash);
