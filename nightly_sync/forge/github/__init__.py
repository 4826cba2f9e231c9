"""The GitHub forge: github.com, GitHub Enterprise Server and GitHub Enterprise Cloud.

`forge.py` implements the protocol of `forge/base.py`; the other modules are one concern each.
"""
