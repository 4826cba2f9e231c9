"""A small repository in which everything that can go wrong in a sync does go wrong, on purpose."""

from nightly_sync.demo.build import build
from nightly_sync.demo.check import check
from nightly_sync.demo.model import DemoSite, Trap

__all__ = ["DemoSite", "Trap", "build", "check"]
