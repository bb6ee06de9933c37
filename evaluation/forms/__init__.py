"""Forms of the evaluation pages, a module per subject."""
