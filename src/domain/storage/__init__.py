"""What is stored: changes as values, exact counts, the ports of the database, the retry loop."""
