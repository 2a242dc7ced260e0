"""GET /connections/{connection_id}/items: queue a query for items (contract §7)."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("items", "items")
