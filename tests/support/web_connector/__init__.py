"""Sessions in memory: the service, a Web Connector, interruptions, interleavings and the books to compare."""
