BEGIN
  IF current_setting('server_version_num')::integer < 160000 THEN
    RAISE EXCEPTION USING ERRCODE = 'feature_not_supported', MESSAGE =
      'row-level security needs PostgreSQL 16 or later: an older server cannot grant a role '
      'that is only assumed, not inherited';
  END IF;
END
