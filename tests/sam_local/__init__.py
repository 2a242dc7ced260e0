"""The functions in containers, as `sam local` runs them."""
