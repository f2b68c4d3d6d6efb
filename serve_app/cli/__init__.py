"""The command line, ``quorumsql``: a module a command."""

from serve_app.cli.app import main

__all__ = ["main"]
