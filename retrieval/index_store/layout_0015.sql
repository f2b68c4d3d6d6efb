-- A database's index: its head, with all keys between its tables.
CREATE TABLE quorumsql.indexes (
    database       text PRIMARY KEY,
    version        text NOT NULL,
    fingerprint    text NOT NULL,
    embedder       text NOT NULL,
    dialect        text NOT NULL,
    search_path    text[] NOT NULL,
    tables         int NOT NULL,
    columns        int NOT NULL,
    indexed_at     timestamptz NOT NULL,
    foreign_keys   json NOT NULL
);
-- A table of the database with its columns and its card.
CREATE TABLE quorumsql.indexed_tables (
    database  text REFERENCES quorumsql.indexes ON DELETE CASCADE,
    position  int,
    body      json NOT NULL,
    PRIMARY KEY (database, position)
);
-- The vectors of the cards of its tables and of its columns.
CREATE TABLE quorumsql.card_vectors (
    database  text REFERENCES quorumsql.indexes ON DELETE CASCADE,
    kind      text CHECK (kind IN ('table', 'column')),
    position  int,
    embedding halfvec NOT NULL,
    PRIMARY KEY (database, kind, position)
);

CREATE TABLE quorumsql.column_values (
    database    text NOT NULL,
    table_name  text NOT NULL,
    column_name text NOT NULL,
    mark        text NOT NULL,
    note        text NOT NULL,
    texts       text[] NOT NULL,
    aliases     jsonb NOT NULL,
    read_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (database, table_name, column_name)
);
CREATE TABLE quorumsql.value_heads (
    database text PRIMARY KEY,
    version  text NOT NULL
);

CREATE TABLE quorumsql.examples (
    database   text NOT NULL,
    id         text NOT NULL,
    question   text NOT NULL,
    folded     text NOT NULL,
    masked     text NOT NULL,
    sql        text NOT NULL,
    form       text NOT NULL,
    tables     text[] NOT NULL,
    source     text NOT NULL CHECK (source IN ('file', 'feedback')),
    given_by   text NOT NULL,
    access     text NOT NULL,
    roles      text[] NOT NULL,
    created_at timestamptz NOT NULL,
    embedder   text NOT NULL,
    embedding  vector NOT NULL,
    -- Whether a reviewer gave it, or gave it again: then everybody who may see it is answered with
    -- it if they ask its very question; otherwise only who gave it.
    reviewed   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (database, id)
);
CREATE TABLE quorumsql.feedback (
    id         text PRIMARY KEY,
    database   text NOT NULL,
    question   text NOT NULL,
    sql        text NOT NULL,
    is_right   boolean NOT NULL,
    correction text NOT NULL,
    given_by   text NOT NULL,
    access     text NOT NULL,
    outcome    text NOT NULL,
    given_at   timestamptz NOT NULL DEFAULT now(),
    reviewed_by    text NOT NULL DEFAULT '',
    reviewed_at    timestamptz,
    -- The id of the feedback whose correction closed this one; empty: none did.
    corrected_with text NOT NULL DEFAULT ''
);
CREATE INDEX feedback_given_at ON quorumsql.feedback (given_at, id);

-- Only hashes are stored.
CREATE TABLE quorumsql.api_keys (
    id                text PRIMARY KEY,
    hash              bytea NOT NULL UNIQUE,
    principal         text NOT NULL,
    roles             text[] NOT NULL,
    attributes        json NOT NULL,
    databases         text[] NOT NULL,
    limits            jsonb NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    expires_at        timestamptz,
    revoked_at        timestamptz,
    last_used_at      timestamptz
);

-- One row for each principal: its requests since minute_began, tokens and rows of the day (UTC).
CREATE TABLE quorumsql.usage (
    principal     text PRIMARY KEY,
    minute_began  timestamptz NOT NULL DEFAULT now(),
    requests      bigint NOT NULL DEFAULT 0,
    day           date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    tokens        bigint NOT NULL DEFAULT 0,
    result_rows   bigint NOT NULL DEFAULT 0
);
-- Questions in progress. One whose service died counts until it expires.
CREATE TABLE quorumsql.question_leases (
    id          text PRIMARY KEY,
    principal   text NOT NULL,
    expires_at  timestamptz NOT NULL
);
CREATE INDEX question_leases_principal ON quorumsql.question_leases (principal);

CREATE TABLE quorumsql.audit_log (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asked_at    timestamptz NOT NULL,
    principal   text NOT NULL,
    key         text NOT NULL,
    database    text NOT NULL,
    session     text NOT NULL,
    question    text NOT NULL,
    outcome     text NOT NULL,
    code        text NOT NULL,
    sql         text NOT NULL,
    predicates  text[] NOT NULL,
    tables      text[] NOT NULL,
    executed    text[] NOT NULL,
    row_count   bigint,
    ms          double precision NOT NULL
);
CREATE INDEX audit_log_asked_at ON quorumsql.audit_log (asked_at);

-- What principals asked in sessions: follow-up questions are completed from it, and they find it
-- again; never cells of results.
CREATE TABLE quorumsql.conversations (
    owner     text NOT NULL,
    session   text NOT NULL,
    title     text NOT NULL,
    database  text NOT NULL,
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
    -- The queries that a clarify answer offered.
    interpretations text[] NOT NULL,
    -- How sure the answer was when it was given; null, and an empty origin, without an answer.
    confidence double precision,
    quorum     boolean,
    origin     text NOT NULL DEFAULT '',
    PRIMARY KEY (owner, session, number),
    FOREIGN KEY (owner, session) REFERENCES quorumsql.conversations ON DELETE CASCADE
);

-- Sign-ins on the page. Only hashes of their cookies are stored. "credential" is the id of the API
-- key, the hash of the static token, or the issuer by which somebody signed in; they end with it.
CREATE TABLE quorumsql.sign_ins (
    hash        bytea PRIMARY KEY,
    kind        text NOT NULL CHECK (kind IN ('static', 'key', 'signed', 'provider')),
    credential  text NOT NULL,
    principal   text NOT NULL,
    roles       text[] NOT NULL,
    attributes  json NOT NULL,
    databases   text[] NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL
);
CREATE INDEX sign_ins_principal ON quorumsql.sign_ins (principal);
CREATE INDEX sign_ins_expires_at ON quorumsql.sign_ins (expires_at);
