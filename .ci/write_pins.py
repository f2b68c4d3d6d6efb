"""``python .ci/write_pins.py REPORT FILE [--without PINS] [--add PIN]``: pip's report as pins.

REPORT is what ``pip install --report`` wrote. What stands in PINS is left out, and so is what is
installed otherwise: these packages, and torch with all that comes with it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

# torch comes first and by itself; the other three are CUDA builds, which break vLLM's CPU build.
LEFT_OUT = {"quorumsql", "quorumsql-client", "torch", "torchvision", "torchaudio", "torchcodec"}
OF_TORCH = ("nvidia-", "cuda-")
HEAD = "# Exact versions, written by `make lock`; installed without resolving."


def main() -> None:
    """Writes FILE, sorted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--without", type=Path)
    parser.add_argument("--add", action="append", default=[])
    asked = parser.parse_args()
    without = asked.without.read_text("utf-8").splitlines() if asked.without else []
    found = [load["metadata"] for load in json.loads(asked.report.read_text("utf-8"))["install"]]
    pins = {
        f"{each['name']}=={each['version']}"
        for each in found
        if each["name"] not in LEFT_OUT and not each["name"].startswith(OF_TORCH)
    }
    lines = sorted((pins | {*asked.add}) - {*without}, key=str.lower)
    asked.file.write_text("\n".join([HEAD, *lines, ""]), "utf-8")


main()
