"""Companies behind test connections: a function that keeps each in an object store and runs its Web Connector."""
