"""From a prompt to candidates: their number, variants, time limit, and merging of equal ones."""
