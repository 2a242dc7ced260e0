"""GET /connections/{connection_id}/items: queue a query for items."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("items")
