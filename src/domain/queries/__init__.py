"""The convenience queries of contract §7: tables of parameters, each with its place in a QBXML query.

A new query is a new table in `tables`; how a value is read and where it goes is said there.
"""

from domain.queries.query import Parameter, Query
from domain.queries.tables import QUERIES

__all__ = ["QUERIES", "Parameter", "Query"]
