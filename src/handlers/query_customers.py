"""GET /connections/{connection_id}/customers: queue a query for customers."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("customers")
