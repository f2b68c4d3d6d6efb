"""The attack table: each attack is shown to work without the guard, and to fail with it."""
