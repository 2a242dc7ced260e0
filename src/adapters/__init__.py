"""Implementations of the ports. Only this package uses boto3 and urllib3. It imports only from `domain`."""
