"""Tests of `domain.qbxml` and of the tools that generate its data."""
