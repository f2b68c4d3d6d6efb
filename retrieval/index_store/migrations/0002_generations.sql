-- The index in generations: each has tables of its own (generation_tables.py). Values, glosses,
-- examples and feedback come beside it. What layout 1 held is made anew by the next build.
DROP TABLE quorumsql.table_cards, quorumsql.databases;

CREATE TABLE quorumsql.generations (
    generation     int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database       text NOT NULL,
    live           boolean NOT NULL,
    version        text NOT NULL,
    fingerprint    text NOT NULL,
    embedder       text NOT NULL,
    dimensions     int NOT NULL,
    dialect        text NOT NULL,
    search_path    text[] NOT NULL,
    tables         int NOT NULL,
    columns        int NOT NULL,
    column_cards   int NOT NULL,
    foreign_keys   int NOT NULL,
    inferred_keys  int NOT NULL,
    indexed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX one_live_generation
    ON quorumsql.generations (database) WHERE live;

-- What a run has embedded and no index holds yet: an interrupted run goes on from here.
CREATE TABLE quorumsql.pending_vectors (
    database  text NOT NULL,
    embedder  text NOT NULL,
    sha256    bytea NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (database, embedder, sha256)
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

CREATE TABLE quorumsql.model_glosses (
    database text NOT NULL,
    name     text NOT NULL,
    prompt   text NOT NULL,
    gloss    text NOT NULL,
    PRIMARY KEY (database, name)
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
    source     text NOT NULL CHECK (source IN ('file', 'benchmark', 'feedback')),
    given_by   text NOT NULL,
    access     text NOT NULL,
    roles      text[] NOT NULL,
    created_at timestamptz NOT NULL,
    embedder   text NOT NULL,
    embedding  vector NOT NULL,
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
    given_at   timestamptz NOT NULL DEFAULT now()
);
