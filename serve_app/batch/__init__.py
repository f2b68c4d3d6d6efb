"""Answers many questions as one job on Ray Data, and keeps what is done if the job is killed.

``questions`` and ``inputs`` read what is asked, ``job`` is the folder of results, ``asking`` and
``asking_service`` answer one question, ``results`` makes its row, ``running`` is the job on Ray.
"""
