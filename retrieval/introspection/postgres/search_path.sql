-- The search path of the reader's URL, else its own here, else the server's usual one, with its name
-- for "$user".
SELECT set_config('search_path', replace(coalesce(nullif(%(path)s, ''),
  (SELECT split_part(setting, '=', 2)
     FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS setting
    WHERE setting LIKE 'search_path=%%' AND s.setrole IN (0, %(reader)s)
      AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY s.setrole = 0, s.setdatabase = 0 LIMIT 1),
  '"$user", public'), '"$user"', quote_ident(%(name)s::text)), true)
