"""Take everything that lands on one branch into another, every night, and lose nothing."""

import os

# GitPython looks for git when it is imported, and raises; git.py says better what to install.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
