"""The value index: finds cell values in questions.

The reader's role reads the distinct values of text columns; they are stored beside the index and
loaded into memory for matching.
"""
