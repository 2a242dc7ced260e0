"""Tests of subscriptions: what is read, and what follows from it."""
