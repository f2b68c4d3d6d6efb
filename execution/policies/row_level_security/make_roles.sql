DECLARE
  wanted text;
BEGIN
  {make}
  FOREACH wanted IN ARRAY ARRAY[{roles}]::text[]
  LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXECUTE format('GRANT %I TO %I', {group}, wanted);
    ELSIF NOT EXISTS (SELECT FROM ({members}) AS member WHERE rolname = wanted) THEN
      RAISE EXCEPTION USING ERRCODE = 'duplicate_object',
        MESSAGE = format('the role %I already exists and was not made for this policy', wanted);
    END IF;
  END LOOP;
END
