"""Writes blocks of results as files; Ray Data notes the ids of each file before and after."""

from __future__ import annotations

from typing import Any

from ray.data.block import BlockAccessor
from ray.data.datasource import BlockBasedFileDatasink

from serve_app.batch.results import ResultFormat, write_table
from serve_app.batch.storage import Folder


class ResultSink(BlockBasedFileDatasink):
    """One file for each block, in the format of the job."""

    def __init__(self, output: Folder, format_: ResultFormat) -> None:
        super().__init__(output.path, filesystem=output.filesystem, file_format=format_.ending)
        self._format = format_

    def write_block_to_file(self, block: BlockAccessor, file: Any) -> None:
        """Writes the rows of a block."""
        write_table(block.to_arrow(), self._format, file)
