-- The same for SQLite only.

-- name: text_json
json_extract({c}, '$.a') = 1

-- name: text_glob
{c} GLOB '{w}*'

-- name: text_like_escape
{c} LIKE '{w}\' ESCAPE '\'

-- name: text_sum
(SELECT sum(9223372036854775807 + (length({c}) > 900))) IS NOT NULL

-- name: text_date
date({c}) > '2020-01-01'

-- name: number_abs_overflow
abs(-9223372036854775807 - ({c} = {v})) > 0

-- name: number_format
printf('%d', {c}) > '5'

-- name: date_julian
julianday({c}) > 2000000
