"""GET /connections/{connection_id}/invoices: queue a query for invoices."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("invoices")
