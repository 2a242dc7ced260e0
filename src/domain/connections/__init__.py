"""Connections: the record, its settings, passwords and removal."""
