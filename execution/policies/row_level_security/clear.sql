DECLARE
  member record;
  found record;
BEGIN
  FOR member IN {members}
  LOOP
    FOR found IN
      SELECT p.polname, n.nspname, c.relname
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE p.polname = member.rolname AND member.oid = ANY (p.polroles)
    LOOP
      EXECUTE format('DROP POLICY %I ON %I.%I', found.polname, found.nspname, found.relname);
    END LOOP;
    FOR found IN
      SELECT DISTINCT n.nspname, c.relname
        FROM pg_shdepend d JOIN pg_class c ON c.oid = d.objid
        JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
         AND d.refclassid = 'pg_authid'::regclass AND d.refobjid = member.oid
    LOOP
      EXECUTE format('REVOKE ALL ON %I.%I FROM %I', found.nspname, found.relname, member.rolname);
    END LOOP;
    FOR found IN
      SELECT n.nspname
        FROM pg_shdepend d JOIN pg_namespace n ON n.oid = d.objid
       WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND d.classid = 'pg_namespace'::regclass AND d.deptype = 'a'
         AND d.refclassid = 'pg_authid'::regclass AND d.refobjid = member.oid
    LOOP
      EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', found.nspname, member.rolname);
    END LOOP;
    IF member.rolname <> ALL (ARRAY[{kept}]::text[]) THEN
      BEGIN
        EXECUTE format('DROP ROLE %I', member.rolname);
      EXCEPTION WHEN dependent_objects_still_exist THEN
        RAISE WARNING 'the role % stays: something else needs it, perhaps in another database',
          member.rolname;
      END;
    END IF;
  END LOOP;
  -- The table had no policies of its own; those of another set of roles may still be there.
  FOR found IN
    SELECT n.nspname, c.relname
      FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE p.polname = {others}
       AND NOT EXISTS (SELECT FROM pg_policy o
                        WHERE o.polrelid = c.oid AND starts_with(o.polname, 'quorumsql_')
                          AND o.polname <> p.polname)
  LOOP
    EXECUTE format('DROP POLICY %I ON %I.%I', {others}, found.nspname, found.relname);
    EXECUTE format('ALTER TABLE %I.%I NO FORCE ROW LEVEL SECURITY', found.nspname, found.relname);
    EXECUTE format('ALTER TABLE %I.%I DISABLE ROW LEVEL SECURITY', found.nspname, found.relname);
  END LOOP;
END
