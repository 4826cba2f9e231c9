"""The conversation with Claude, against a stand-in that answers as the tests script it."""
