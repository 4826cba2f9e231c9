"""The history of all runs: a frame for analysis, a summary table, a CSV file."""

from pathlib import Path

import pandas as pd
from prefect import flow
from prefect.artifacts import create_table_artifact

from nightly_sync import history
from tasks.past_runs import read_past_runs

SUMMARY_KEY = "nightly-sync-history"
RULES_KEY = "nightly-sync-history-rules"


@flow(name="nightly-sync-history", flow_run_name="history")
def run_history(csv: Path | None = None) -> pd.DataFrame:
    """Every recorded run, oldest first; leaves summary tables, and a CSV file where asked."""
    table = history.frame(read_past_runs())
    for key, rows in (
        (SUMMARY_KEY, history.summary(table)),
        (RULES_KEY, history.rules_table(table)),
    ):
        if rows:
            create_table_artifact(rows, key=key)
    if csv is not None:
        csv.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(csv, index=False)
    return table
