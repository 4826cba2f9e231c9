"""The nightly-sync flows: they compose tasks and hold no logic of their own."""
