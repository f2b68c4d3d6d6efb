"""Words of questions that several rules look for."""

NEGATIONS = frozenset("not no never without neither nor except exclude excluding t".split())
