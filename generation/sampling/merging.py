"""Merges completions of the same normal form into candidates."""

from __future__ import annotations

from collections.abc import Iterable

from nl2sql.pipeline.rounds import add_samples
from nl2sql.sql.extraction import extract_sql
from nl2sql.sql.normal_form import normal_form
from nl2sql.types import Candidate, Completions


def merge_candidates(
    drawn: Iterable[tuple[str, Completions]], dialect: str
) -> tuple[Candidate, ...]:
    """Candidates in the order of their first sample, from pairs of (variant, completions).

    ``samples`` counts the texts of that normal form from all variants.

    >>> both = merge_candidates([("ddl", Completions(("SELECT 1", "hm", "select 1;"), 9, 9))], "")
    >>> [(candidate.id, candidate.samples, candidate.variant) for candidate in both]
    [('c1', 2, 'ddl')]
    """
    merged: dict[str, Candidate] = {}
    for variant, completions in drawn:
        likelihoods = completions.logprobs or (None,) * len(completions.texts)
        for text, logprob in zip(completions.texts, likelihoods, strict=True):
            if not (sql := extract_sql(text, dialect)):
                continue
            form = normal_form(sql, dialect)
            new = Candidate(f"c{len(merged) + 1}", sql, samples=0, variant=variant)
            merged[form] = add_samples(merged.get(form, new), 1, logprob)
    return tuple(merged.values())
