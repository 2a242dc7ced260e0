"""Lists of a connection's requests: pages, filters, sort orders and search."""
