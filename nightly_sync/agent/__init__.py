"""Claude as a proposer: it answers and edits through tools; code checks all of it."""
