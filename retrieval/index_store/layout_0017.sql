-- An example of a file is one of its question, with the names of its parameters, and its roles: a
-- corrected one replaces it. Feedback is an example of whoever gave it.
ALTER TABLE quorumsql.examples ADD COLUMN new_id text;
-- A pattern is a pair as a file has it.
UPDATE quorumsql.examples SET pattern = json_build_object(
    'question', pattern::json #> '{phrasings,0}', 'sql', pattern::json -> 'sql',
    'phrasings', (pattern::jsonb -> 'phrasings') - 0, 'parameters', pattern::json -> 'parameters')
 WHERE pattern <> '';
UPDATE quorumsql.examples SET new_id = left(encode(sha256(convert_to(to_json(
    ARRAY[database, source] || CASE source WHEN 'feedback' THEN ARRAY[folded, form, access, given_by]
    ELSE CASE WHEN pattern = '' THEN folded ELSE btrim(regexp_replace(lower(
        nullif(pattern, '')::json ->> 'question'), '\s+', ' ', 'g'), ' ?.!') END || roles END
    )::text, 'UTF8')), 'hex'), 16);
DELETE FROM quorumsql.examples AS e USING quorumsql.examples AS other
 WHERE e.database = other.database AND e.new_id = other.new_id
   AND (e.created_at, e.id) < (other.created_at, other.id);
UPDATE quorumsql.examples SET id = new_id;
ALTER TABLE quorumsql.examples DROP COLUMN new_id;

-- "shape" is a hash of the names and types of a table's columns, so that a question need not read
-- the columns of all tables to find out which examples have expired.
ALTER TABLE quorumsql.indexed_tables
    ADD COLUMN name  text NOT NULL DEFAULT '',
    ADD COLUMN shape text NOT NULL DEFAULT '';
UPDATE quorumsql.indexed_tables SET
    name = concat(body #>> '{table,schema}', '.', body #>> '{table,name}'),
    shape = (SELECT md5(coalesce(string_agg(concat_ws(' ', c ->> 'name', c ->> 'type'), ','
                                            ORDER BY (c ->> 'name') COLLATE "C"), ''))
               FROM json_array_elements(body #> '{table,columns}') AS c);
CREATE INDEX indexed_tables_name ON quorumsql.indexed_tables (database, name);
-- What had expired stays so.
UPDATE quorumsql.examples AS e SET shape = CASE
    WHEN e.shape = (SELECT md5(coalesce(string_agg(concat_ws(' ', i.name, (
            SELECT string_agg(concat_ws(' ', c ->> 'name', c ->> 'type'), ',' ORDER BY c ->> 'name')
              FROM json_array_elements(i.body #> '{table,columns}') AS c)), ';' ORDER BY i.name), ''))
          FROM quorumsql.indexed_tables AS i
         WHERE i.database = e.database AND i.name = ANY (e.tables))
    THEN (SELECT md5(coalesce(string_agg(concat_ws(' ', i.name, i.shape), ';' ORDER BY i.name), ''))
            FROM quorumsql.indexed_tables AS i
           WHERE i.database = e.database AND i.name = ANY (e.tables))
    ELSE 'expired' END
 WHERE e.shape <> '';

-- An assistant's examples read the tables of its database, which is indexed under its own name.
ALTER TABLE quorumsql.examples ADD COLUMN indexed_database text NOT NULL DEFAULT '';
UPDATE quorumsql.examples SET indexed_database = database;
