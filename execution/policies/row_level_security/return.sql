DECLARE
  found record;
  source CONSTANT text := {role};
  target text;
BEGIN
  SELECT substr(shobj_description(r.oid, 'pg_authid'), length({comment}) + 1) INTO target
    FROM pg_roles r
   WHERE r.rolname = source AND starts_with(shobj_description(r.oid, 'pg_authid'), {comment});
  IF target IS NULL THEN
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = target) THEN
    {move}
  ELSE
    RAISE WARNING 'the role % is gone: nobody gets its SELECT back', target;
  END IF;
  FOR found IN
    SELECT DISTINCT n.nspname FROM pg_namespace n, aclexplode(n.nspacl) a
     WHERE a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
  LOOP
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', found.nspname, source);
  END LOOP;
  BEGIN
    EXECUTE format('DROP ROLE %I', source);
  EXCEPTION WHEN dependent_objects_still_exist THEN
    RAISE WARNING 'the role % stays: something else needs it, perhaps in another database', source;
  END;
END
