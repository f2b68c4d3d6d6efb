-- Layout 2 as it was when it came: a live generation, an example, feedback, a gloss, values.
CREATE SCHEMA quorumsql;
CREATE TABLE IF NOT EXISTS quorumsql.layout (version int NOT NULL);

CREATE TABLE IF NOT EXISTS quorumsql.generations (
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
CREATE UNIQUE INDEX IF NOT EXISTS one_live_generation
    ON quorumsql.generations (database) WHERE live;

-- What a run has embedded and no index holds yet: an interrupted run goes on from here.
CREATE TABLE IF NOT EXISTS quorumsql.pending_vectors (
    database  text NOT NULL,
    embedder  text NOT NULL,
    sha256    bytea NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (database, embedder, sha256)
);
CREATE TABLE IF NOT EXISTS quorumsql.column_values (
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
CREATE TABLE IF NOT EXISTS quorumsql.value_heads (
    database text PRIMARY KEY,
    version  text NOT NULL
);

CREATE TABLE IF NOT EXISTS quorumsql.model_glosses (
    database text NOT NULL,
    name     text NOT NULL,
    prompt   text NOT NULL,
    gloss    text NOT NULL,
    PRIMARY KEY (database, name)
);

CREATE TABLE IF NOT EXISTS quorumsql.examples (
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
CREATE TABLE IF NOT EXISTS quorumsql.feedback (
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
INSERT INTO quorumsql.layout VALUES (2);
CREATE TABLE quorumsql.column_defs_1 (
    position int NOT NULL, name text NOT NULL, type text NOT NULL,
    nullable boolean NOT NULL, comment text NOT NULL
);
CREATE TABLE quorumsql.table_defs_1 (
    position int NOT NULL, schema text NOT NULL, name text NOT NULL, kind text NOT NULL,
    comment text NOT NULL, definition text NOT NULL, primary_key text[] NOT NULL,
    columns int[] NOT NULL, column_cards int[] NOT NULL,
    summary text NOT NULL, card text NOT NULL, sha256 bytea NOT NULL
);
CREATE TABLE quorumsql.column_cards_1 (position int NOT NULL, card text NOT NULL, sha256 bytea NOT NULL);
CREATE TABLE quorumsql.foreign_keys_1 (
    position int NOT NULL, name text NOT NULL, table_name text NOT NULL, columns text[] NOT NULL,
    target text NOT NULL, target_columns text[] NOT NULL, inferred boolean NOT NULL
);
CREATE TABLE quorumsql.table_vectors_1 (
    position int PRIMARY KEY, sha256 bytea NOT NULL, embedding halfvec(2) NOT NULL
);
CREATE TABLE quorumsql.column_vectors_1 (
    position int PRIMARY KEY, sha256 bytea NOT NULL, embedding halfvec(2) NOT NULL
);
CREATE INDEX IF NOT EXISTS examples_hnsw_2 ON quorumsql.examples
 USING hnsw ((embedding::vector(2)) vector_cosine_ops)
 WHERE vector_dims(embedding) = 2;
INSERT INTO quorumsql.generations
       (database, live, version, fingerprint, embedder, dimensions, dialect, search_path,
        tables, columns, column_cards, foreign_keys, inferred_keys)
VALUES ('shop', true, 'v2', 'f declared', 'fake', 2, 'postgres', '{main}', 1, 1, 1, 0, 0);
INSERT INTO quorumsql.column_defs_1 VALUES (0, 'id', 'integer', false, '');
INSERT INTO quorumsql.table_defs_1
VALUES (0, 'main', 'orders', 'table', '', '', '{id}', '{0}', '{0}', 'orders', 'orders: id', '\xaa');
INSERT INTO quorumsql.column_cards_1 VALUES (0, 'id', '\xbb');
INSERT INTO quorumsql.table_vectors_1 VALUES (0, '\xaa', '[1,0]');
INSERT INTO quorumsql.column_vectors_1 VALUES (0, '\xbb', '[0,1]');
INSERT INTO quorumsql.examples
VALUES ('shop', 'e1', 'How many orders?', 'how many orders', 'How many orders?',
        'SELECT count(*) FROM orders', 'select count(*) from orders', '{main.orders}', 'feedback',
        'ann', 'key', '{}', '2026-11-21 12:00+00', 'fake', '[1,0]');
INSERT INTO quorumsql.feedback
VALUES ('n1', 'shop', 'How many orders?', 'SELECT count(*) FROM orders', true, '', 'ann', 'key',
        'stored', '2026-11-21 12:00+00');
INSERT INTO quorumsql.model_glosses VALUES ('shop', 'main.orders.id', 'p', 'the order''s number');
INSERT INTO quorumsql.column_values VALUES ('shop', 'main.orders', 'id', 'm', '', '{1}', '{}');
