"""The convenience queries: GET endpoints that build a QBXML query from URL parameters.

`tables` lists the queries and their parameters; a new query is a new entry there.
"""

from domain.queries.query import Parameter, Query
from domain.queries.tables import QUERIES

__all__ = ["QUERIES", "Parameter", "Query"]
