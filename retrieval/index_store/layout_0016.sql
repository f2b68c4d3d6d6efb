-- Verified queries with a title and parameters: the pattern is JSON, empty without parameters.
-- "shape" is a hash of the columns of its tables when it was verified; empty: not known.
ALTER TABLE quorumsql.examples
    ADD COLUMN title   text NOT NULL DEFAULT '',
    ADD COLUMN pattern text NOT NULL DEFAULT '',
    ADD COLUMN shape   text NOT NULL DEFAULT '';
