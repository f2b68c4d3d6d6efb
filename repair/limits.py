"""The longest query that is repaired by rule.

The rules compare the names and words of a query with one another, so their time grows with the
square of its length. The longest gold query of the benchmarks has 169 tokens.
"""

MOST_CHARS = 3_000
MOST_TOKENS = 1_000
