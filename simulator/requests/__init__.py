"""What QuickBooks does with each request: one handler per family of requests, found in `dispatch`."""
