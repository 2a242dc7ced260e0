"""Settling: whether QuickBooks executed a write whose outcome is unknown."""
