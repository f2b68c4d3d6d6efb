"""Plans the joins between the tables of a question, and infers undeclared foreign keys."""
