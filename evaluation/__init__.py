"""Measures a service on questions with gold SQL, reproducibly."""
