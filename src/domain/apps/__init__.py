"""Apps: the record, API keys and webhook secrets, and their administration by the operator."""
