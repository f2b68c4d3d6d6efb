-- Only hashes are stored. The previous key of a record works until previous_ends_at.
CREATE TABLE quorumsql.api_keys (
    id                text PRIMARY KEY,
    hash              bytea NOT NULL UNIQUE,
    previous_hash     bytea UNIQUE,
    previous_ends_at  timestamptz,
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
