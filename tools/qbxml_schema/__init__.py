"""Compiles the schema facts of QBXML from files that the user supplies, and tests the schema check with them."""
