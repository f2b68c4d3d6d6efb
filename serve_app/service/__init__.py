"""Between the pipeline and its interfaces: requests checked, limited, answered."""
