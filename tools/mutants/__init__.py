"""Mutants of the core: `make mutants` breaks one rule at a time and runs the tests that execute the broken line.

mutmut and cosmic-ray make mutants too. Neither draws a sample from a seed, mutates a condition that is a text for
DynamoDB, or takes a table of named mutants, and a full run of either takes many hours with these tests.
"""
