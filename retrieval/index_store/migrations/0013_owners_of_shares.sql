-- A share belongs to a name with its roles and attributes, as conversations do. Whose the shares of
-- before are cannot be told: they stay readable until they end by age, and are in nobody's list.
ALTER TABLE quorumsql.shares ADD COLUMN owner text NOT NULL DEFAULT '';
