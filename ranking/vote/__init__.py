"""The vote: candidates with equivalent results vote together, each with its samples."""
