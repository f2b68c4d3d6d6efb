"""Verified questions with their queries, shown to the model beside a similar question.

- ``masking.py``: replaces the entities of a question, so that only its form is compared
- ``records.py``: verifies a query (guard, then EXPLAIN) and builds an example
- ``selector.py``: searches for one question and one principal
- ``importing.py``: writes and reads files of examples; embeds examples again
- ``feedback.py``: applies users' feedback on answers
"""
