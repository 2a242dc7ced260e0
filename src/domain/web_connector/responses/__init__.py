"""What a response or a processor exception means for the request in flight."""
