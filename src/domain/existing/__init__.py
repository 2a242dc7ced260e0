"""Finding the object of a write in the books: by its id, its name or its number."""
