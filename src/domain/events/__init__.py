"""Events that can be pulled: the log of each app, and the feed that reads it (decision 0080)."""
