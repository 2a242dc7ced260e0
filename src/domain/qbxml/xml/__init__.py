"""The XML parser that requests and responses share."""
