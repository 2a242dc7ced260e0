"""Records: requests, connections, sessions and apps with their states and transitions. Nothing is stored here."""
