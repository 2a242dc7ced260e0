"""Sessions in memory: the service, a Web Connector, cuts, interleavings and the books to compare."""
