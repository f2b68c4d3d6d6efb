-- A column says what it is computed from, a table whose rows it shares: policies depend on both, so
-- every database is indexed again before it is asked.
DELETE FROM quorumsql.indexes;
