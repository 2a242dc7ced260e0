"""RequestService: the operations of API consumers on requests."""
