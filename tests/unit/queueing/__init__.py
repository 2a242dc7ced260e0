"""RequestService: what an API consumer does with requests."""
