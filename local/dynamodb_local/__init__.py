"""Runs the official DynamoDB Local (Java)."""
