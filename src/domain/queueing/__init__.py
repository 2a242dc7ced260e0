"""The use cases of a queued request: queue, read, discard, delete, redeliver; and why a request waits."""
