"""Background work: the sweep, retention, search packing and the recount of counts."""
