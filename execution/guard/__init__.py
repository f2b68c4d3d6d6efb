"""The guard, which checks and rewrites every query before it reaches a database."""
