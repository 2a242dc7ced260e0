"""How far the simulated QuickBooks is the real one: its rules with their sources, FIDELITY.md and strict mode.

`rules.py` is the table. `facts.py` and `situations.py` find what the outcome of a request can depend on, and
`strict.py` looks it up in the table. `python -m simulator.fidelity` prints FIDELITY.md.
"""
