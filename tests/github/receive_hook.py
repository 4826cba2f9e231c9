"""The pre-receive hook of the served repositories: branch protection in GitHub's words.

Runs on its own, with the standard library only, inside git's quarantine. Reads the rules from
STAND_IN_POLICY, prints what GitHub prints, and leaves in STAND_IN_REASONS, as JSON, the reason
that GitHub puts in brackets behind each refused branch.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote

ZERO = "0" * 40
HEADS = "refs/heads/"
WORKFLOWS = ".github/workflows/"
CLASSIC_REASON = "protected branch hook declined"
BROKEN_REASON = "Internal Server Error"
RULESET_REASON = "push declined due to repository rule violations"


def git(*args: str) -> str:
    """What git says about the pushed objects."""
    return subprocess.run(["git", *args], capture_output=True, text=True, check=True).stdout


def unsigned(new: str) -> list[str]:
    """New commits that carry no signature."""
    commits = git("rev-list", new, "--not", "--all").split()
    return [sha for sha in commits if "\ngpgsig" not in git("cat-file", "commit", sha)]


def rewrites(old: str, new: str) -> bool:
    """Whether the push drops commits."""
    return ZERO not in (old, new) and git("merge-base", old, new).strip() != old


def violations(
    rule: dict[str, Any], old: str, new: str, passed: list[str]
) -> Iterator[tuple[str, list[str]]]:
    """What a push breaks, with the commits it is about."""
    if new == ZERO:
        yield "Cannot delete this branch", []
        return
    if rule["pull_request"]:
        yield "Changes must be made through a pull request.", []
    if not rule["force_push"] and rewrites(old, new):
        yield "Cannot force-push to this branch", []
    for name in rule["required_checks"]:
        if old != ZERO and name not in passed:
            yield f'Required status check "{name}" is expected.', []
    if rule["signatures"] and (found := unsigned(new)):
        yield "Commits must have verified signatures.", found


def tell_classic(ref: str, found: list[tuple[str, list[str]]]) -> str:
    """GH006, of branch protection."""
    reasons = " ".join(text for text, _ in found)
    head = f"error: GH006: Protected branch update failed for {ref}."
    sys.stderr.write(f"{head}\nerror: {reasons}\n")
    return CLASSIC_REASON


def tell_ruleset(ref: str, found: list[tuple[str, list[str]]], url: str) -> str:
    """GH013, of rulesets."""
    lines = [f"error: GH013: Repository rule violations found for {ref}."]
    lines += [f"Review all repository rules at {url}/rules?ref={quote(ref, safe='')}", ""]
    for text, commits in found:
        lines += [f"- {text}"]
        if commits:
            plural = "s" if len(commits) > 1 else ""
            lines += [
                f"  Found {len(commits)} violation{plural}:",
                "",
                *(f"  {c}" for c in commits),
            ]
        lines += [""]
    sys.stderr.write("\n".join([*lines, ""]))
    return RULESET_REASON


def workflow_files(commit: str) -> set[tuple[str, str]]:
    """`(path, blob)` of the workflow files of a commit."""
    lines = git("ls-tree", "-r", commit, WORKFLOWS).splitlines()
    return {(line.partition("\t")[2], line.split()[2]) for line in lines}


def strange_workflow(new: str) -> str:
    """A workflow file that no branch has like this; such a push needs a permission of its own."""
    files = workflow_files(new)
    for ref in git("for-each-ref", "--format=%(refname)", HEADS).split() if files else ():
        files -= workflow_files(ref)
    return min((path for path, _ in files), default="")


def workflow_reason(path: str, kind: str) -> str:
    """GitHub's words for a token that may not touch workflows."""
    app = kind == "installation"
    who = "a GitHub App" if app else "a Personal Access Token"
    what = "`workflows` permission" if app else "`workflow` scope"
    return f"refusing to allow {who} to create or update workflow `{path}` without {what}"


def refusal(policy: dict[str, Any], old: str, new: str, ref: str) -> str:
    """Why a ref may not move; empty if it may."""
    if policy["broken"]:
        return BROKEN_REASON
    if new != ZERO and not policy["workflows"] and (path := strange_workflow(new)):
        return workflow_reason(path, policy["kind"])
    branch, passed = ref.removeprefix(HEADS), policy["passed"].get(new, [])
    rules = [rule for rule in policy["rules"] if fnmatchcase(branch, rule["branch"])]
    for ruleset in (False, True):
        chosen = [rule for rule in rules if rule["ruleset"] is ruleset]
        found = [item for rule in chosen for item in violations(rule, old, new, passed)]
        if found:
            return tell_ruleset(ref, found, policy["url"]) if ruleset else tell_classic(ref, found)
    return ""


def main() -> int:
    """Look at every ref of the push; one refusal refuses all."""
    policy = json.loads(os.environ["STAND_IN_POLICY"])
    reasons = {}
    for line in sys.stdin.read().splitlines():
        old, new, ref = line.split(" ", 2)
        if reason := refusal(policy, old, new, ref):
            reasons[ref] = reason
    Path(os.environ["STAND_IN_REASONS"]).write_text(json.dumps(reasons))
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
