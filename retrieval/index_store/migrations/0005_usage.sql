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
