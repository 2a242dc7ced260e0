"""One suite for every implementation of the ports: the fake, DynamoDB emulated, DynamoDB Local."""
