"""The official DynamoDB Local (Java), for as long as a command runs."""
