"""The convenience queries."""
