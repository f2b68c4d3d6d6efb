"""``python -m serve_app.cli`` is ``quorumsql``."""

from serve_app.cli.app import main

main()
