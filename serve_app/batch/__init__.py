"""Answers many questions as one job on Ray Data, and keeps what is done if the job is killed.

``questions`` reads what is asked, ``job`` is the folder of results, ``asking`` answers a question,
``results`` makes its row, ``running`` is the job on Ray, ``worker`` its actor.
"""
