-- The first layout: an index is one row, with a row for the card of each of its tables.
CREATE TABLE quorumsql.databases (
    database   text PRIMARY KEY,
    version    text NOT NULL,
    embedder   text NOT NULL,
    catalog    jsonb NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE quorumsql.table_cards (
    database   text NOT NULL REFERENCES quorumsql.databases ON DELETE CASCADE,
    table_name text NOT NULL,
    summary    text NOT NULL,
    card       text NOT NULL,
    sha256     text NOT NULL,
    embedding  vector NOT NULL,
    PRIMARY KEY (database, table_name)
);
