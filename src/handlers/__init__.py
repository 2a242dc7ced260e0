"""The functions, one module per Lambda function: parse, one call into the domain, present.

`bootstrap` builds what they call; `api/` is the shared edge of the REST API.
"""
