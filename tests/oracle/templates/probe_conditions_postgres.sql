-- The same for PostgreSQL only; heads may begin with other kinds: range, json, inet, array, bytes.

-- name: text_ilike_escape_at_end
{c} ILIKE '{w}\'

-- name: text_not_ilike_escape_at_end
{c} NOT ILIKE '{w}\'

-- name: text_ilike_any
{c} ILIKE ANY (ARRAY['zz', '{w}\'])

-- name: text_ilike_all
{c} NOT ILIKE ALL (ARRAY['zz', '%{w}\'])

-- name: text_ilike_concat
{c} ILIKE concat('{w}', '\')

-- name: text_ilike_is_true
({c} ILIKE '_{w}\') IS TRUE

-- name: text_ilike_collate
{c} ILIKE '{w}\' COLLATE "C"

-- name: text_ilike_varchar
{c} ILIKE CAST('{w}\' AS varchar(9))

-- name: text_ilike_subquery
{c} ILIKE (SELECT '{w}\')

-- name: text_regex
{c} ~ '^{w}'

-- name: text_regex_case
{c} ~* '{w}.*7'

-- name: text_not_regex
{c} !~ '[a-'

-- name: text_regex_back_references
{c} ~ '^(a+)(a+)(a+)\1\2\3\d*$'

-- name: text_regex_is_pattern
'x' ~ {c}

-- name: text_starts_with
starts_with({c}, '{w}')

-- name: text_any
{c} = ANY (ARRAY[{v}, 'x'])

-- name: text_all
{c} <> ALL (ARRAY[{v}, 'x'])

-- name: text_collate
{c} COLLATE "C" < {v}

-- name: text_cast_json
CAST({c} AS jsonb) IS NOT NULL

-- name: text_cast_boolean
CAST({c} AS boolean)

-- name: text_cast_timestamp
CAST({c} AS timestamp) > now()

-- name: text_to_date
to_date({c}, 'YYYY-MM-DD') > date '2020-01-01'

-- name: text_to_number
to_number({c}, '9999') > 3

-- name: text_element
(string_to_array({c}, 'a'))[1] = '{w}'

-- name: text_split
split_part({c}, 'a', length({c}) - 5) = '{w}'

-- name: text_regexp_replace
regexp_replace({c}, {c}, 'x') = '{w}'

-- name: text_ascii
chr(ascii({c}) - 40) > 'a'

-- name: text_distinct
{c} IS DISTINCT FROM {v}

-- name: text_row
({c}, 1) < ({v}, 2)

-- name: number_not_distinct
{c} IS NOT DISTINCT FROM {v}

-- name: number_any
{c} = ANY (ARRAY[1, 2, {v}])

-- name: number_element
(ARRAY[1, 2])[CAST({c} AS integer)] = 1

-- name: number_make_date
make_date(CAST({c} AS integer), 1, 1) > date '2020-01-01'

-- name: number_bucket
width_bucket({c}, 0, 0 + {v}, 4) > 2

-- name: number_numeric
{c} < CAST('1e400' AS numeric)

-- name: number_typmod
CAST({c} AS numeric(3, 1)) > 0

-- name: number_row
({c}, 1) = ({v}, 1)

-- name: number_log
log(2, {c}) > 0

-- name: date_interval
{c} + interval '200000 years' > now()

-- name: date_minus
{c} - date '0001-01-01' IS NOT NULL

-- name: date_timestamp
{c} < CAST('2024-02-29 10:00' AS timestamptz)

-- name: date_infinity
{c} = CAST('infinity' AS timestamp)

-- name: date_trunc
date_trunc('year', {c}) < now()

-- name: date_extract
extract(year FROM {c}) > 2020

-- name: date_make
make_date(CAST(extract(year FROM {c}) AS integer) - 9998, 2, 29) IS NOT NULL

-- name: date_to_char
CAST(to_char({c}, 'YYYY') AS smallint) > 0

-- name: range_left
{c} << '[0,1)'

-- name: range_overlaps
{c} && '[0,1)'

-- name: range_contains
{c} @> 5.0

-- name: range_within
{c} <@ '[0,1)'

-- name: range_less
{c} < '[0,1)'

-- name: range_adjacent
{c} -|- '[0,1)'

-- name: json_contains
{c} @> '{{"a": 1}}'

-- name: json_cast
CAST({c} AS integer) > 3

-- name: json_length
jsonb_array_length({c}) > 0

-- name: json_equal
{c} = '7777'

-- name: json_path
jsonb_extract_path_text({c}, 'a') = '1'

-- name: inet_within
{c} << '10.0.0.0/8'

-- name: inet_less
{c} < '10.0.0.9'

-- name: array_contains
{c} @> ARRAY['x']

-- name: array_any
'{w}' = ANY ({c})

-- name: array_overlaps
{c} && ARRAY['hida7', 'x']

-- name: array_less
{c} < ARRAY['x']

-- name: array_like
'{w}' ILIKE ANY ({c})

-- name: array_length
10 / array_length({c}, 1) > 0

-- name: bytes_like
{c} LIKE '\x5f6964615c'

-- name: bytes_less
{c} < '\x68'
