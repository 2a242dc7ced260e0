"""Webhooks: tell an app that its request has ended (docs/webhooks.md)."""
