"""The QBXML schema as data, and the content models made from it."""
