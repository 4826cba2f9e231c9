"""Put the sync where people see it: push the branch, open the draft, keep its body true."""

from nightly_sync import labels, sync_branch
from nightly_sync.config import SyncConfig
from nightly_sync.errors import StopForPerson, SyncError
from nightly_sync.forge.base import PullRequest
from nightly_sync.merge.step import Merged
from nightly_sync.reports import body, marker
from nightly_sync.reports.marker import Marker
from nightly_sync.reports.model import ReportFacts
from nightly_sync.session import Session
from nightly_sync.sync_branch import Choice


def publish(run: Session, merged: Merged) -> PullRequest:
    """Push a new merge commit and open its draft; with a resumed branch, take up what is there.

    Every call may be repeated: a branch that is pushed is not pushed again, and a branch never
    gets a second pull request. Raises StopForPerson, before anything is changed, where a person
    took the branch's pull request over or closed it.
    """
    facts, choice = merged.facts, merged.choice
    if choice is None:
        raise ValueError("nothing was committed, so nothing can be published")
    _check_hands_off(run, choice)
    if choice.resume is None:
        place = run.workspace
        sync_branch.push_commit(
            place.repository,
            run.origin,
            facts.plan.target,
            facts.merge_commit,
            choice,
            run.config,
        )
    ours = body.build(facts, _marker(facts, run.config))
    title = run.config.title_for(run.started)
    pull = run.forge.create_draft(choice.name, run.config.target, title, ours.text)
    back_to_draft(run, pull)  # one of an earlier run may be ready, and is to be checked anew
    update_body(run, pull, facts)
    run.forge.add_labels(pull.number, run.config.labels)
    return pull


def back_to_draft(run: Session, pull: PullRequest) -> None:
    """Make it a draft, if it is open and none."""
    now = run.forge.get(pull.number)
    if now.open and not now.draft:
        run.forge.mark_draft(pull.number)


def ask_for_review(run: Session, pull: PullRequest) -> str:
    """Ask the configured reviewers; why that failed, or "". It is no reason to end a run."""
    try:
        run.forge.ask_for_review(pull.number, run.config.reviewers)
    except SyncError as error:
        return str(error)
    return ""


def _check_hands_off(run: Session, choice: Choice) -> None:
    found = run.forge.open_pull_requests(run.config.prefix())
    pull = next((item for item in found if item.branch == choice.name), None)
    if pull and labels.has(pull.labels, run.config.manual_label):
        raise StopForPerson(
            f"pull request {pull.number} for {choice.name} has the label "
            f"{run.config.manual_label}, so it is left alone; take the label off to go on"
        )
    # A new branch of an old name starts anew: somebody deleted the old one.
    closed = run.forge.closed_pull_request(choice.name) if choice.resume and not pull else None
    if closed:
        how = closed.ended if closed.merged else "was closed by a person"
        reopen = "" if closed.merged else "reopen it, or "
        raise StopForPerson(
            f"pull request {closed.number} for {choice.name} {how}; "
            f"{reopen}delete the branch to start anew"
        )


def update_body(run: Session, pull: PullRequest, facts: ReportFacts) -> None:
    """Replace our part of the body; what people wrote around it stays and counts."""

    def revised(now: str) -> str:
        room = body.LIMIT - len(marker.around(now)) - 2
        ours = body.build(facts, _marker(facts, run.config), limit=room)
        return marker.replace_between(now, ours.text)

    run.forge.revise_body(pull.number, revised)


def _marker(facts: ReportFacts, config: SyncConfig) -> Marker:
    return Marker(source=facts.plan.source, target=facts.plan.target, config=config.digest())
