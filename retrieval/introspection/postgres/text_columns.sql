-- Users see enumerations as text; the type "name" is only used in system tables.
SELECT n.nspname, c.relname, a.attname
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid AND t.typcategory IN ('S', 'E') AND t.typname <> 'name'
 WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname = ANY (%(schemas)s)
   AND has_column_privilege(c.oid, a.attnum, 'SELECT')
