"""GET /connections/{connection_id}/invoices: queue a query for invoices (contract §7)."""

from handlers.rest.query_endpoint import query_endpoint

handler = query_endpoint("invoices", "invoices")
