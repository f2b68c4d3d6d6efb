BEGIN
  IF EXISTS (SELECT FROM pg_roles g WHERE g.rolname = {group}
              AND starts_with(shobj_description(g.oid, 'pg_authid'), {comment}))
     AND NOT EXISTS ({members}) THEN
    EXECUTE format('DROP ROLE %I', {group});
  END IF;
END
