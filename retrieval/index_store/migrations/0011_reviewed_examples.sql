-- Whether a reviewer gave the example, or gave it again: then everybody who may see it is answered
-- with it if they ask its very question; otherwise only who gave it.
ALTER TABLE quorumsql.examples ADD COLUMN reviewed boolean NOT NULL DEFAULT false;
