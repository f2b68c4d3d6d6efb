"""Answers many questions as one job on Ray Data, and keeps what is done if the job is killed.

``questions`` reads what is asked, ``job`` is the folder of results, ``asking`` asks the service,
``results`` makes the row of an answer, ``running`` is the job on Ray.
"""
