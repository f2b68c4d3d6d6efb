"""Completion by the shell: words, options and names, without importing the commands.

Importing one command takes seconds, which nobody waits for after Tab. So ``commands.json`` holds
what completion needs to know of them; ``python -m serve_app.cli.reference`` writes it, and a test
fails if it is out of date.
"""
