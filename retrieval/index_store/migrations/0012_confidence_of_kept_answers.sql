-- How sure an answer was when it was given, for its history and for whoever opens a link to it.
-- "origin" is that of its candidate: sample, repair, derived, picked or verified; empty: no answer.
ALTER TABLE quorumsql.conversation_turns
    ADD COLUMN confidence double precision,
    ADD COLUMN quorum boolean,
    ADD COLUMN origin text NOT NULL DEFAULT '';
ALTER TABLE quorumsql.shares
    ADD COLUMN confidence double precision,
    ADD COLUMN quorum boolean,
    ADD COLUMN origin text NOT NULL DEFAULT '';
