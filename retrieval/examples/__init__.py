"""Verified questions with their queries, shown to the model beside a similar question.

- ``records.py``: verifies a query (guard, then EXPLAIN) and builds an example
- ``parameters.py``: the parameters of a verified query, and their values in it
- ``question_items.py``, ``matching.py``: whether a question asks what such a query answers
- ``selector.py``: searches for one question and one principal
- ``importing.py``: reads files of examples; embeds examples again
- ``feedback.py``: applies users' feedback on answers
"""
