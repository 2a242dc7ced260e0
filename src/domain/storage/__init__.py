"""Everything about stored data that the domain decides: changes, counts, the ports of the database, the retry loop."""
