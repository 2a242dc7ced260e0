"""Connections: onboarding links."""
