"""Company files: those that are made from a seed, and those that are kept as JSON."""
