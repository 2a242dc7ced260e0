"""A request: its document, its readers and writers, and the checks that run before it is queued."""
