"""Take everything that lands on one branch into another, every night, and lose nothing."""
