"""DynamoDB behind the domain's ports: `docs/data-model.md` shows the tables and who asks them what."""

from adapters.dynamodb.store import DynamoDBStore
from adapters.dynamodb.tables import TableNames

__all__ = ["DynamoDBStore", "TableNames"]
