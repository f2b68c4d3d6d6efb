-- IF NOT EXISTS: some indexes of layout 2 have this table already.
CREATE TABLE IF NOT EXISTS quorumsql.session_turns (
    owner     text NOT NULL,
    session   text NOT NULL,
    number    bigint GENERATED ALWAYS AS IDENTITY,
    database  text NOT NULL,
    question  text NOT NULL,
    outcome   text NOT NULL,
    sql       text NOT NULL,
    readings  text[] NOT NULL,
    asked_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, session, number)
);
CREATE INDEX IF NOT EXISTS session_turns_asked_at ON quorumsql.session_turns (asked_at);
