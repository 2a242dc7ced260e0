"""Lost responses: message sets, and how QuickBooks is asked for a stored response."""
