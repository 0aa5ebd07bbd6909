"""Runs every check on a cluster of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from nodeless.live.account import Account, NotReadError, caller_account, opened
from nodeless.live.checks import CHECKS
from nodeless.live.checks.check import Result, Severity, error
from nodeless.live.cluster import describe, instead_of
from nodeless.live.subject import Subject
from nodeless.resolved.installation import Installation

CREDENTIALS, CLUSTER = "credentials", "cluster"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One finding, with the check it comes from."""

    check: str
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything that was found about one cluster."""

    stack: str
    region: str
    account: str
    rows: tuple[Row, ...]

    @property
    def is_healthy(self) -> bool:
        """Tell whether nothing is wrong; a warning is not."""
        return all(row.result.severity is not Severity.ERROR for row in self.rows)


def examine(
    kubernetes: str | None,
    installation: Installation,
    *,
    profile: str | None = None,
    say: Say = lambda _: None,
    log_in: Callable[..., Account] = opened,
) -> Examination:
    """Look at one cluster; without it, or with credentials of another account, nothing else is looked at."""
    say(CREDENTIALS)
    login = installation.login
    account = log_in(installation.region, profile=profile or login.profile, roles=login.roles)
    account_id, partition = caller_account(account)
    rows = [*_credentials(installation, account_id, partition)]
    if not rows:
        rows = [Row(CREDENTIALS, Result(Severity.OK, f"the credentials belong to the account {account_id}"))]
        rows += _of_cluster(kubernetes, installation, account, account_id, say)
    return Examination(stack=installation.stack, region=installation.region, account=account_id, rows=tuple(rows))


def _credentials(installation: Installation, account_id: str, partition: str) -> Iterator[Row]:
    if installation.account not in {None, account_id}:
        text = f"the credentials belong to the account {account_id}, and the file says {installation.account}"
        fix = "use other credentials (--profile, provider.profile), or correct account; nothing else was looked at"
        yield Row(CREDENTIALS, error(text, fix))
    elif installation.partition.name != partition:
        wanted = installation.partition.name
        text = f"the credentials belong to the partition {partition}, and {installation.region} to {wanted}"
        yield Row(CREDENTIALS, error(text, "use other credentials (--profile), or correct region"))


def _of_cluster(
    kubernetes: str | None, installation: Installation, account: Account, account_id: str, say: Say
) -> Iterable[Row]:
    say(CLUSTER)
    live = describe(account, installation.name)
    if live is None:
        fix = f"{instead_of(account, installation.name)} (nothing else was looked at)"
        return [Row(CLUSTER, error(f"{installation.region} has no cluster {installation.name}", fix))]
    subject = Subject(
        account=account, account_id=account_id, kubernetes=kubernetes, installation=installation, live=live
    )
    return _checked(subject, say)


def _checked(subject: Subject, say: Say) -> Iterator[Row]:
    for check in CHECKS:
        if not check.applies(subject.installation):
            continue
        say(check.id)
        results: list[Result] = []
        try:
            # What was found before something could not be read stays.
            results += check.run(subject)
        except NotReadError as reason:
            results.append(Result(Severity.NOT_CHECKED, str(reason)))
        yield from (Row(check.id, result) for result in results or [Result(Severity.OK, check.fine)])
