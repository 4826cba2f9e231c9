"""Decisions about checks: gate, triage, baseline. Pure functions."""
