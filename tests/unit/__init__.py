"""Rules of the domain, tested in memory; sockets are banned here."""
