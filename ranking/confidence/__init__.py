"""How likely the winner of a vote is right: what is measured of it, and the fitted model."""
