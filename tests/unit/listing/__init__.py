"""Listing: pages by number, filters, search."""
