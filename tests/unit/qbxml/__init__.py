"""QBXML: reading, writing, the facts of the schema, responses."""
