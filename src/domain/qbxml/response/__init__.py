"""A response: its statuses, its JSON form, and the facts about QuickBooks."""
