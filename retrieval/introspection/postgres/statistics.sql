-- Rows that cover all partitions of a table come last and so replace the others.
SELECT schemaname, tablename, attname, n_distinct, avg_width
  FROM pg_stats WHERE schemaname = ANY (%(schemas)s) ORDER BY inherited
