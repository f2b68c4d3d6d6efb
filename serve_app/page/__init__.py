"""The page at ``/``: plain files, which use the public HTTP interface and nothing else."""

from importlib.resources import files

STATIC = files(__name__).joinpath("static")
"""The folder of the files: ``index.html`` is ``/``, the others are under ``/page/``."""
