"""Genuine pairs of requests and responses, and the comparison of the simulator's responses with them."""
