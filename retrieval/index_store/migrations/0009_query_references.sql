-- Queries of answers to people who see no SQL: they name them by their ids. "owner" and "session"
-- are those of conversations (session empty: none).
CREATE TABLE quorumsql.query_references (
    id        text PRIMARY KEY,
    owner     text NOT NULL,
    session   text NOT NULL,
    database  text NOT NULL,
    hash      bytea NOT NULL,
    sql       text NOT NULL,
    kept_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (owner, session, database, hash)
);
CREATE INDEX query_references_kept_at ON quorumsql.query_references (kept_at);
