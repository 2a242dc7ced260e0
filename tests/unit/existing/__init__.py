"""Finding the object of a write in the books, and what an update changes in it."""
