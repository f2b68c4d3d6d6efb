-- The id of the feedback whose correction closed this one; empty: none did.
ALTER TABLE quorumsql.feedback
    ADD COLUMN corrected_with text NOT NULL DEFAULT '';
