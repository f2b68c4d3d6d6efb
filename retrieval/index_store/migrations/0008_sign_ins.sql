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
