"""The config reference is generated, so it has to be current."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_config_reference_is_current() -> None:
    """If this fails, run `python docs/make_config.py`."""
    render = runpy.run_path(str(DOCS / "make_config.py"))["render"]
    assert (DOCS / "config.md").read_text(encoding="utf-8") == render()
