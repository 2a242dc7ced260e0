"""The business: queueing QBXML requests, the Web Connector session, webhooks, listing.

Pure Python: the standard library and defusedxml. No boto3, Powertools, pydantic,
environment, clock or network; what changes from run to run is passed in.
"""
