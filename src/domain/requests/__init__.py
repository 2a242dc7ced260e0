"""Queued requests: the record and its states, queueing, lists, search, waiting reasons."""
