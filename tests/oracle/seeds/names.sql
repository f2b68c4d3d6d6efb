-- Names behind a source's name that its columns do not bear, or not any more: a column, a field, or a
-- function of that name, which the database then calls.
SELECT lower.lower FROM unnest(ARRAY['A']) AS lower(x);
SELECT abs.abs FROM unnest(ARRAY[-1]) AS abs(x);
SELECT last_name(e) FROM hr.employees e;
SELECT e.text FROM hr.employees e;
SELECT e.name FROM hr.employees e;
SELECT d.row_to_json FROM hr.departments d;
SELECT d.pg_column_size FROM hr.departments d;
SELECT p.pg_advisory_lock FROM unnest(ARRAY[7]) AS p(x);
SELECT pg_advisory_lock.pg_advisory_lock FROM generate_series(7, 7) AS pg_advisory_lock(x);
SELECT pg_typeof.pg_typeof FROM (SELECT 1 AS pg_typeof) AS pg_typeof(x);
SELECT q.to_json FROM (SELECT 1 AS to_json) AS q(x);
SELECT lo_create.lo_create FROM unnest(ARRAY[0::oid]) AS lo_create(x);
SELECT pg_terminate_backend.pg_terminate_backend FROM unnest(ARRAY[0]) AS pg_terminate_backend(x);
SELECT pg_sleep.pg_sleep FROM unnest(ARRAY[0]) AS pg_sleep(x);
SELECT q.f FROM (SELECT 1 AS f) AS q(a);
SELECT q.f FROM (SELECT 1 AS f, 2 AS g) AS q(a);
SELECT q.g FROM (SELECT 1 AS f, 2 AS g) AS q(a);
SELECT ts_stat.ts_stat FROM unnest(ARRAY['select array_to_tsvector(array[last_name]) from hr.employees']) AS ts_stat(x);
SELECT query_to_xml.query_to_xml FROM unnest(ARRAY['a']) AS query_to_xml(x);
SELECT h.department FROM hr.headcounts AS h(a) ORDER BY 1;
