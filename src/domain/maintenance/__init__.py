"""Upkeep that no caller waits for: the sweep, retention, search packing, the recount of counts."""
