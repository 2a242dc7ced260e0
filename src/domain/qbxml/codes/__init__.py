"""What QuickBooks' status codes and HRESULTs mean."""
