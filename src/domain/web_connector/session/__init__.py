"""A Web Connector session: login, claims, polling, lingering, the company file check, and its end."""
