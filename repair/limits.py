"""How long a query may be that is repaired by rule.

The rules hold each name and word of a query against each other: their time grows with the square of
its length. The longest gold query of the benchmarks has 169 words and signs.
"""

MOST_CHARS = 3_000
MOST_TOKENS = 1_000
