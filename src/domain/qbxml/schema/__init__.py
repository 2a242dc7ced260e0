"""The QBXML schema as data, and the content models built from it."""
