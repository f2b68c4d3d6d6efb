-- Conditions over {c}, a column as a.name, that fail on some values or are tried on samples. Heads
-- begin with the kind of the column: text, number or date. {v} is a value that may be hidden, as a
-- text or as a number, {w} the beginning of such a text.

-- name: text_equal
{c} = {v}

-- name: text_in
{c} IN ({v}, 'x', 'y')

-- name: text_less
{c} < {v}

-- name: text_between
{c} BETWEEN {v} AND 'zz'

-- name: text_like
{c} LIKE '{w}%'

-- name: text_like_escape_at_end
{c} LIKE '_{w}\'

-- name: text_not_like_escape_at_end
{c} NOT LIKE '%{w}\'

-- name: text_upper
upper({c}) LIKE upper('{w}%\')

-- name: text_is_pattern
'{w}' LIKE {c}

-- name: text_cast_integer
CAST({c} AS integer) > 3

-- name: text_cast_numeric
CAST({c} AS numeric) > 0

-- name: text_cast_date
CAST({c} AS date) > CAST('2020-01-01' AS date)

-- name: text_cast_other_way
{c} > CAST(7 AS text)

-- name: text_substring
substr({c}, 1, length({c}) - 3) = '{w}'

-- name: text_length_division
10 / (length({c}) - 5) > 0

-- name: text_with_number
length({c}) * 2000000000 > 0

-- name: number_equal
{c} = {v}

-- name: number_in
{c} IN ({v}, 1, 2, 3)

-- name: number_less
{c} < {v}

-- name: number_between
{c} BETWEEN 1 AND {v}

-- name: number_division
1 / ({c} - {v}) IS NOT NULL

-- name: number_remainder
10 % ({c} - {v}) IS NOT NULL

-- name: number_overflow
{c} * 2000000000 > 0

-- name: number_sum_overflow
{c} + 2147483640 > 0

-- name: number_abs
abs({c} - 5) > 3

-- name: number_sqrt
sqrt({v} - {c}) > 0

-- name: number_ln
ln({c} - {v}) > 0

-- name: number_power
power({c}, 400) > 0

-- name: number_cast_small
CAST({c} AS smallint) > 0

-- name: number_cast_integer
CAST({c} AS integer) > 0

-- name: number_as_text
CAST({c} AS text) LIKE '7%'

-- name: number_float
{c} = CAST(7777 AS double precision)

-- name: number_large
{c} < 99999999999999999999

-- name: number_wide
{c} <= 9223372036854775807

-- name: number_chr
chr(CAST({c} AS integer)) > 'a'

-- name: date_equal
{c} = '9999-12-31'

-- name: date_less
{c} < '2024-02-29'

-- name: date_between
{c} BETWEEN '2000-01-01' AND '2030-01-01'

-- name: date_as_text
CAST({c} AS text) LIKE '2%'

-- name: date_in
{c} IN ('2024-02-29', '9999-12-31')
