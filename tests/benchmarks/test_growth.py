"""Rows of a growth measurement as CSV and plots; embeddings by hashing."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.growth import Growth, draw_latency, draw_memory, write_csv
from tests.benchmarks.hashing_embedder import HashingEmbedder


def build_row(tables: int) -> Growth:
    values: dict[str, Any] = {field.name: 1.5 for field in fields(Growth)}
    return Growth(**{**values, "tables": tables, "columns": 9, "embedder": "fake", "questions": 5})


def test_a_line_a_size(tmp_path: Path) -> None:
    write_csv(tmp_path / "growth.csv", [build_row(86), build_row(300)])
    with (tmp_path / "growth.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["tables"] for line in lines] == ["86", "300"]
    assert lines[0]["total_p95"] == "1.5"


def test_plots_name_the_sizes() -> None:
    rows = [build_row(86), build_row(100_000)]
    for svg in (draw_latency(rows), draw_memory(rows)):
        assert svg.startswith("<svg")
        assert "100,000" in svg
        assert "1.5 ms" in svg or "2 MiB" in svg


def test_texts_that_share_words_are_near() -> None:
    embedder = HashingEmbedder()
    one, same, other = embedder.embed(["open invoices", "invoice, open", "warehouse bins"])
    assert np.isclose(one @ same, 1.0, atol=1e-5)
    assert one @ other < 0.3
    assert embedder.embed([""]).shape == (1, 384)
