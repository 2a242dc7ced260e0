"""A request: its document, its readers and writers, and the checks before it is queued."""
