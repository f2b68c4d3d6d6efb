"""Verified questions with their queries, shown to the model beside a similar question.

- ``records.py``: verifies a query (guard, then EXPLAIN) and builds an example
- ``selector.py``: searches for one question and one principal
- ``importing.py``: reads files of examples; embeds examples again
- ``feedback.py``: applies users' feedback on answers
"""
