-- What principals asked in sessions, for themselves to find again; never cells of results.
CREATE TABLE quorumsql.conversations (
    owner     text NOT NULL,
    session   text NOT NULL,
    title     text NOT NULL,
    database  text NOT NULL,
    starred   boolean NOT NULL DEFAULT false,
    asked_at  timestamptz NOT NULL,
    PRIMARY KEY (owner, session)
);
CREATE INDEX conversations_latest ON quorumsql.conversations (owner, asked_at, session);
CREATE INDEX conversations_asked_at ON quorumsql.conversations (asked_at);
CREATE TABLE quorumsql.conversation_turns (
    owner      text NOT NULL,
    session    text NOT NULL,
    number     bigint GENERATED ALWAYS AS IDENTITY,
    database   text NOT NULL,
    question   text NOT NULL,
    rewritten  text NOT NULL,
    outcome    text NOT NULL,
    sql        text NOT NULL,
    asked_at   timestamptz NOT NULL,
    PRIMARY KEY (owner, session, number),
    FOREIGN KEY (owner, session) REFERENCES quorumsql.conversations ON DELETE CASCADE
);
-- Queries that somebody gave a link to. Each reader runs them anew.
CREATE TABLE quorumsql.shares (
    id         text PRIMARY KEY,
    shared_by  text NOT NULL,
    database   text NOT NULL,
    question   text NOT NULL,
    sql        text NOT NULL,
    shared_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX shares_shared_at ON quorumsql.shares (shared_at);
-- Whether somebody has worked through feedback on a wrong answer.
ALTER TABLE quorumsql.feedback
    ADD COLUMN reviewed_by text NOT NULL DEFAULT '',
    ADD COLUMN reviewed_at timestamptz;
CREATE INDEX feedback_given_at ON quorumsql.feedback (given_at, id);
