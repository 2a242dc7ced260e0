"""The domain's part of storage: changes, counts, the ports of the database and the retry loop."""
