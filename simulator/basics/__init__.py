"""Errors, the clock of the machine and date macros: the modules that every other folder uses."""
