"""Verified questions with their queries, shown to the model beside a question like them.

- ``masking.py``: a question without its entities, so that form is compared and not who is named
- ``records.py``: an example, its identity, and who may be shown what another gave
- ``selector.py``: the search for one question and one principal
- ``verification.py``: what may become an example: guard, then EXPLAIN or a run
- ``files.py``, ``importing.py``: files of examples in and out
- ``feedback.py``: what a user says of an answer
- ``upkeep.py``: new vectors when the embedder is another
"""
