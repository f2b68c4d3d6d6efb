"""How Ray Data reads the questions of a job and writes its results, a block at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import ray
from pyarrow import parquet
from ray.data import Datasource, ReadTask
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.checkpoint import CheckpointManager
from ray.data.datasource import BlockBasedFileDatasink

from serve_app.batch.job import ROWS_PER_FILE, ROWS_PER_GROUP, Job, name_questions, read_ids
from serve_app.batch.questions import SCHEMA
from serve_app.batch.results import ResultFormat, write_table
from serve_app.batch.storage import Folder

# Of a question, for Ray's estimates.
_BYTES = 500


class QuestionSource(Datasource):
    """The questions of a job, in blocks of ``block_rows``.

    Ray Data's own reader makes blocks of files, and takes more processes for it.
    """

    def __init__(self, job: Job, block_rows: int) -> None:
        super().__init__()
        self._folder = job.questions
        self._total = job.stored.total
        self._block_rows = block_rows

    def get_name(self) -> str:
        """The name of the stage."""
        return "Questions"

    def estimate_inmemory_data_size(self) -> int:
        """Bytes of all questions, roughly."""
        return self._total * _BYTES

    def count_blocks(self) -> int:
        """The number of blocks."""
        return sum(1 for _ in self._list_blocks())

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        """A task for each block; ``parallelism`` must be their number."""
        return [
            ReadTask(
                partial(_read_block, self._folder, number, start, rows),
                BlockMetadata(
                    num_rows=rows, size_bytes=rows * _BYTES, input_files=None, exec_stats=None
                ),
                schema=SCHEMA,
            )
            for number, start, rows in self._list_blocks()
        ]

    def _list_blocks(self) -> Iterator[tuple[int, int, int]]:
        """Number of the file, first row, rows; no block goes beyond a file."""
        for number, first in enumerate(range(0, self._total, ROWS_PER_FILE)):
            size = min(ROWS_PER_FILE, self._total - first)
            for start in range(0, size, self._block_rows):
                yield number, start, min(self._block_rows, size - start)


def _read_block(folder: Folder, number: int, start: int, rows: int) -> list[Any]:
    """The rows from ``start``, of which the file is read by groups."""
    first, last = start // ROWS_PER_GROUP, (start + rows - 1) // ROWS_PER_GROUP
    path = (folder / name_questions(number)).path
    with folder.filesystem.open_input_file(path) as file:
        groups = parquet.ParquetFile(file).read_row_groups(list(range(first, last + 1)))
    return [groups.slice(start - first * ROWS_PER_GROUP, rows)]


class StoredIds(CheckpointManager):
    """Loads the ids that have a row, without the processes that Ray Data's own loading takes.

    ``Job.recover`` has deleted what is pending.
    """

    def load_checkpoint(self, *_: Any, **__: Any) -> tuple[Any, int]:
        """A reference to the sorted ids, and their bytes; None and 0 if there are none."""
        folder = Folder(self.filesystem, self.checkpoint_path_unwrapped)
        ids = np.array(sorted(read_ids(folder, folder.list_files())), dtype=object)
        if not ids.size:
            return None, 0
        return ray.put(ids), sum(map(sys.getsizeof, ids))


class ResultSink(BlockBasedFileDatasink):
    """One file for each block, in the format of the job."""

    def __init__(self, output: Folder, format_: ResultFormat) -> None:
        super().__init__(output.path, filesystem=output.filesystem, file_format=format_.value)
        self._format = format_

    def write_block_to_file(self, block: BlockAccessor, file: Any) -> None:
        """Writes the rows of a block."""
        write_table(block.to_arrow(), self._format, file)
