"""A question on its way through the stages: sampling rounds, repair rounds, the conclusion."""
