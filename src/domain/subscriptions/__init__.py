"""Subscriptions: reads inside the sessions of the Web Connector that keep a copy of the books up to date."""
