"""GET /connections/{connection_id}/sales_orders: queue a query for sales orders."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("sales_orders")
