"""Lost responses: message sets, and recovery of a stored response from QuickBooks."""
