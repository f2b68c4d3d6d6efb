-- Layout 1 as the first version of QuorumSQL set it up, with an index.
CREATE SCHEMA quorumsql;
CREATE TABLE IF NOT EXISTS quorumsql.databases (
    database   text PRIMARY KEY,
    version    text NOT NULL,
    embedder   text NOT NULL,
    catalog    jsonb NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS quorumsql.table_cards (
    database   text NOT NULL REFERENCES quorumsql.databases ON DELETE CASCADE,
    table_name text NOT NULL,
    summary    text NOT NULL,
    card       text NOT NULL,
    sha256     text NOT NULL,
    embedding  vector NOT NULL,
    PRIMARY KEY (database, table_name)
);
CREATE INDEX IF NOT EXISTS table_cards_hnsw_2 ON quorumsql.table_cards
 USING hnsw ((embedding::vector(2)) vector_cosine_ops)
 WHERE vector_dims(embedding) = 2;
INSERT INTO quorumsql.databases VALUES ('shop', 'v1', 'fake', '{"database": "shop", "tables": []}');
INSERT INTO quorumsql.table_cards VALUES ('shop', 'main.orders', 'orders', 'orders', 'aa', '[1,0]');
