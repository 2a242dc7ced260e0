"""The tests: unit, contract, integration, infrastructure, end to end."""
