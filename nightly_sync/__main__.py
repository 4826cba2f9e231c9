"""`python -m nightly_sync`: the same as the `nightly-sync` command."""

from nightly_sync.cli import main

if __name__ == "__main__":
    main()
