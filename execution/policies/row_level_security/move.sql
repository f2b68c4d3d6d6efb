FOR found IN
    SELECT n.nspname, c.relname,
           string_agg(quote_ident(t.attname), ', ' ORDER BY t.attnum) AS names
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
     WHERE {where} AND a.privilege_type = 'SELECT'
       AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
     GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO %I',
                   found.names, found.nspname, found.relname, target);
    EXECUTE format('REVOKE SELECT (%s) ON %I.%I FROM %I',
                   found.names, found.nspname, found.relname, source);
  END LOOP;
  FOR found IN
    SELECT DISTINCT n.nspname, c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a
     WHERE {where} AND a.privilege_type = 'SELECT' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
       AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
  LOOP
    EXECUTE format('GRANT SELECT ON %I.%I TO %I', found.nspname, found.relname, target);
    EXECUTE format('REVOKE SELECT ON %I.%I FROM %I', found.nspname, found.relname, source);
  END LOOP;
