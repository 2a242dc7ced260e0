"""The meanings of QuickBooks' status codes and HRESULTs."""
