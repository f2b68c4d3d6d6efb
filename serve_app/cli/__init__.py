"""The command line, ``quorumsql``: one module for each command."""

from serve_app.cli.app import main

__all__ = ["main"]
