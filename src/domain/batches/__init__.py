"""Requests of a batch that wait for each other: `dependencies` when they are queued, `dependants` when one ends."""
