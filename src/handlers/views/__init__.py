"""The JSON that clients see. A view is a typed dictionary and the function that fills it.

The types describe the responses in OpenAPI too (`tools/openapi.py` reads them with pydantic). Nothing here imports
pydantic, because webhook events need these views and have to start quickly.
"""
