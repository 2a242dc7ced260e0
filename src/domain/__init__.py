"""The business logic: queueing QBXML requests, the Web Connector session, webhooks and listing.

The package is pure Python and uses only the standard library and defusedxml. It uses no boto3, Powertools, pydantic,
environment, clock or network. Callers pass in everything that varies from run to run.
"""
