"""Compiles the facts of QBXML's schema from files that its user supplies."""
