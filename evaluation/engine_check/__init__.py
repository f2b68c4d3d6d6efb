"""Checks that an engine does what the pipeline needs, and measures what load it bears.

``behaviour`` asks through the ``Engine`` protocol alone, so it checks vLLM, OpenVINO and servers
alike; ``load`` measures questions a minute.
"""
