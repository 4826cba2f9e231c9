"""The steps of the sync flow, one Prefect task a module; the logic lives in nightly_sync."""
