"""Interprets responses and processor exceptions for the request in flight."""
