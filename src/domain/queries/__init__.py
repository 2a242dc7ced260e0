"""The convenience queries: GET endpoints that build a QBXML query from URL parameters.

`tables` lists the queries and their parameters. To add a query, follow the recipe in `CONTRIBUTING.md`.
"""

from domain.queries.query import Parameter, Query
from domain.queries.tables import QUERIES

__all__ = ["QUERIES", "Parameter", "Query"]
