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
