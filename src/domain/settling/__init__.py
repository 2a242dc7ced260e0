"""Settling: finding out from the books whether QuickBooks executed a write whose outcome is unknown."""
