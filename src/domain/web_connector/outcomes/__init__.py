"""Outcomes: how a request in flight continues after a response, an exception, or the end of its session."""
