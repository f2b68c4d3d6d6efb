"""The injection set: texts that tell the model what to do, and a model that does it.

Each text is put where it would stand in the product: in a question, in a cell, in a comment … The
model is a fake that obeys at once. What is tested is that nothing comes of it.
"""
