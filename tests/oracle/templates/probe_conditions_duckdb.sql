-- The same for DuckDB only.

-- name: text_ilike
{c} ILIKE '{w}\'

-- name: text_regex
regexp_matches({c}, '^{w}')

-- name: text_regex_is_pattern
regexp_matches('x', {c})

-- name: text_strptime
strptime({c}, '%Y-%m-%d') > TIMESTAMP '2020-01-01'

-- name: text_cast_small
CAST({c} AS tinyint) > 0

-- name: number_cast_tiny
CAST({c} AS tinyint) > 0

-- name: number_negated
- {c} < 0

-- name: number_subtraction
{c} - 2147483647 < 0

-- name: number_multiplied
{c} * {c} > 0

-- name: number_shift
{c} << 3 > 0

-- name: number_integer_division
10 // ({c} - {v}) IS NOT NULL

-- name: number_decimal
CAST({c} AS decimal(4, 1)) > 0

-- name: date_interval
{c} + INTERVAL 300000 YEAR > DATE '2020-01-01'

-- name: date_year
year({c}) > 2020

-- name: date_trunc
date_trunc('century', {c}) < DATE '2020-01-01'

-- name: date_minus
{c} - DATE '0001-01-01' > 5

-- name: date_strftime
CAST(strftime({c}, '%Y') AS tinyint) > 0

-- name: date_add_days
{c} + 2147483640 > DATE '2020-01-01'
