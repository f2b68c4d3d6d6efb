IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {role}) THEN
    EXECUTE format('CREATE ROLE %I NOLOGIN', {role});
    EXECUTE format('COMMENT ON ROLE %I IS %L', {role}, {comment});
  ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = {role}
                     AND shobj_description(r.oid, 'pg_authid') {known}) THEN
    RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format(
      'the role %I already exists and was not made for this policy and reader', {role});
  END IF;
