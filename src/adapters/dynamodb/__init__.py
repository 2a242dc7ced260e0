"""DynamoDB behind the ports of the domain. `docs/data-model.md` describes the tables and the access patterns."""

from adapters.dynamodb.keys import TableNames
from adapters.dynamodb.store import DynamoDBStore

__all__ = ["DynamoDBStore", "TableNames"]
