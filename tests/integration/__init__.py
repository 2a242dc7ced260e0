"""Parts together: adapters on DynamoDB emulated, handlers with events, real sockets on loopback."""
