"""GET /connections/{connection_id}/vendors: queue a query for vendors."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("vendors")
