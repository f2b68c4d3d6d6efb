"""Verified questions with their queries, shown to the model beside a similar question.

- ``masking.py``: replaces the entities of a question, so that only its form is compared
- ``records.py``: verifies a query (guard, then EXPLAIN) and builds an example
- ``selector.py``: searches for one question and one principal
- ``files.py``, ``importing.py``: write and read files of examples; embed examples again
- ``feedback.py``: applies users' feedback on answers
"""
