"""Which real part stands behind each stage, for every way to run the pipeline."""
