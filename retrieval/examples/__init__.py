"""Verified questions with their queries, shown to the model beside a similar question.

- ``masking.py``: replaces the entities of a question, so that only its form is compared
- ``records.py``: builds an example and its id
- ``selector.py``: searches for one question and one principal
- ``verification.py``: checks a query before it becomes an example: guard, then EXPLAIN or a run
- ``files.py``, ``importing.py``: write and read files of examples
- ``feedback.py``: applies users' feedback on answers
- ``upkeep.py``: computes new vectors when the embedder changed
"""
