DECLARE
  found record;
  source CONSTANT text := {reader};
  target CONSTANT text := {role};
BEGIN
  {move}
END
