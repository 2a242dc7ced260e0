"""Runs of sessions: the schedule of one Web Connector, and scripts with faults, several machines and expectations."""
