"""`nodeless adopt`: which set-up a cluster has, what a stack that takes it over does, and the keys to write."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodeless.cli.doctor import add_profile
from nodeless.cli.options import DIFFERS, DONE, Verbs, add_config, add_json, add_quiet
from nodeless.finding import Finding, SpecError
from nodeless.sinks.terminal import printable

if TYPE_CHECKING:
    from nodeless.live.adoption import Comparison
    from nodeless.live.setups import Found
    from nodeless.live.subject import Subject
    from nodeless.resolved.installation import Installation
    from nodeless.spec.model import Cluster

COMMAND = "nodeless adopt"
ABOUT = """\
Look for a Karpenter that another tool set up on a cluster of the file: the blog post's Terraform, Karpenter's
CloudFormation template, eksctl, or the module terraform-aws-modules/eks. Print the keys with which a stack takes it
over, and what the first plan then does.

Nothing is changed. The exit code is 0 if one set-up was found that can be taken over, 1 if there is none, or something
is in the way, and 2 if it could not be told. Needs boto3: pip install "nodeless[aws]".
"""
EXAMPLES = """\
examples:
  nodeless adopt demo
  nodeless adopt demo --profile staging --json
"""
TITLES = (
    ("imported", "Imported, or moved if the stack continues the tool's state"),
    ("created", "Created"),
    ("changed", "Changed"),
    ("removed", "Removed, because it allows more than the stack's own policies"),
    ("left_behind", "Left behind, for you to remove"),
    ("unchecked", "To be checked by you, because only the account was read"),
    ("conflicts", "In the way"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was found: the set-ups, the keys for one of them, and what they lead to."""

    stack: str
    setups: tuple[str, ...]
    applied: bool = False
    keys: Mapping[str, Any] | None = None
    comparison: Comparison | None = None

    @property
    def is_clear(self) -> bool:
        """Tell whether there is one set-up, and nothing is in the way."""
        return self.comparison is not None and not self.comparison.conflicts


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "adopt",
        help="find out how to take over what another tool set up",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("cluster", metavar="CLUSTER", help="a cluster of the file")
    add_config(options)
    add_profile(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run, reads_account=True)


def run(options: argparse.Namespace) -> int:
    """Look at the account, and print the keys and what they lead to."""
    from nodeless.cli.progress import progress
    from nodeless.live.boto3_installed import check_boto3

    check_boto3(COMMAND)
    from nodeless.live.account import NotReadError

    chosen = _Chosen(options)
    with progress(f"Looking at {printable(options.cluster)}"):
        try:
            answer = chosen.answer(options.profile)
        except NotReadError as error:
            fix = "see docs/adopting.md for the permissions that these credentials need"
            raise SpecError("AWS", [Finding(("AWS",), str(error), "permission to look it up", fix)]) from None
    if options.json:
        print(json.dumps(as_json(answer), indent=2))
    else:
        for line in _lines(answer, quiet=options.quiet):
            print(printable(line))
        print(printable(f"{answer.stack}: {_summary(answer)}"), file=sys.stderr)
    return DONE if answer.is_clear else DIFFERS


class _Chosen:
    """A cluster of the file, which is read as if it had no key `adopt`: that may be what is wrong with it."""

    def __init__(self, options: argparse.Namespace) -> None:
        from nodeless.cli.choice import chosen
        from nodeless.spec.including import gather
        from nodeless.spec.resolution import resolve_files

        files = gather(options.config)
        for position, source in enumerate(files.sources):
            files = files.with_tree(position, _without_adopt(source.tree))
        rows = resolve_files(files)
        stacks = chosen([row.installation for row in rows], [options.cluster], options.config, "CLUSTER")
        if len(stacks) > 1:
            fix = f"write {COMMAND} with one of these"
            expected = f"one stack; the clusters of this name have {', '.join(sorted(stacks))}"
            raise SpecError(COMMAND, [Finding(("CLUSTER",), options.cluster, expected, fix)])
        self._files = files
        self._number = next(number for number, row in enumerate(rows) if row.installation.stack in stacks)
        self._row = rows[self._number]
        self.cluster, self.installation = self._row.cluster, self._row.installation

    def answer(self, profile: str | None) -> Answer:
        """Look for set-ups, and compare the only one."""
        from nodeless.live.account import caller_account, opened
        from nodeless.live.cluster import described
        from nodeless.live.setups import SetUps
        from nodeless.resolved.permissions import place_of

        here = self.installation
        account = opened(here.region, profile=profile or here.login.profile, roles=here.login.roles)
        account_id, _ = caller_account(account)
        if here.account not in {None, account_id}:
            fix = "use other credentials (--profile, provider.profile), or correct account"
            finding = Finding(("account",), str(here.account), f"{account_id}, the account of the credentials", fix)
            raise SpecError(self._files.sources[self._row.position].name, [finding])
        live = described(account, here.name)
        place = place_of(here, account=account_id)
        looked = SetUps(account, place, namespace=here.namespace, service_account=here.service_account)
        found = tuple(looked.found())
        others = [each for each in found if not each.is_ours]
        answer = Answer(stack=here.stack, setups=tuple(each.setup for each in others), applied=len(others) < len(found))
        if len(others) != 1:
            return answer
        from nodeless.live.subject import Subject

        def subject(installation: Installation) -> Subject:
            return Subject(
                account=account, account_id=account_id, kubernetes=None, installation=installation, live=live
            )

        return self._compared(answer, others[0], subject)

    def _compared(self, answer: Answer, found: Found, subject: Any) -> Answer:  # noqa: ANN401 - a function of above
        from dataclasses import replace

        from nodeless.live.adoption import compare, corrections

        first = self._with(_keys(found, self.cluster, (), {}))
        missing, more = corrections(subject(first))
        keys = _keys(found, self.cluster, missing, more)
        return replace(answer, keys=keys, comparison=compare(subject(self._with(keys))))

    def _with(self, keys: Mapping[str, Any]) -> Installation:
        """Resolve the cluster with more keys, as the file would have them."""
        from nodeless.spec.resolution import resolve_files

        source = self._files.sources[self._row.position]
        clusters = list(source.clusters())
        clusters[self._row.index] = {**clusters[self._row.index], **keys}
        changed = self._files.with_tree(self._row.position, {**source.tree, "clusters": clusters})
        return resolve_files(changed)[self._number].installation


def _without_adopt(tree: Any) -> Any:  # noqa: ANN401 - any YAML
    if not isinstance(tree, dict):
        return tree

    def kept(row: Any) -> Any:  # noqa: ANN401 - any YAML
        return {key: value for key, value in row.items() if key != "adopt"} if isinstance(row, dict) else row

    clusters, defaults = tree.get("clusters"), tree.get("defaults")
    changed = dict(tree)
    if isinstance(clusters, list):
        changed["clusters"] = [kept(row) for row in clusters]
    if isinstance(defaults, dict):
        changed["defaults"] = kept(defaults)
    return changed


def _keys(found: Found, cluster: Cluster, missing: Any, more: Mapping[str, str]) -> dict[str, Any]:  # noqa: ANN401 - a list
    """Write the keys of the file: names as they exist, and what differs from such a set-up."""
    from nodeless.resolved.adoption_rows import ASSOCIATION, SETUPS

    given = cluster.names.model_dump(exclude_defaults=True, exclude={"style", "with_region"})
    names = {"style": SETUPS[found.setup].style, **given, **found.names}
    ids = {key: value for key, value in {**found.ids, **more}.items() if key != ASSOCIATION or _by_pod(cluster)}
    without = [row for row in (*found.without, *missing) if cluster.interruption or "interruption" not in row]
    adopt: dict[str, Any] = {"setup": found.setup}
    if without:
        adopt["without"] = without
    if ids:
        adopt["ids"] = ids
    return {
        "names": names["style"] if len(names) == 1 else names,
        "adopt": adopt["setup"] if len(adopt) == 1 else adopt,
        "exclusive_policies": cluster.exclusive_policies is not False,
    }


def _by_pod(cluster: Cluster) -> bool:
    return cluster.identity == "pod-identity"


def as_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as the document that --json prints."""
    comparison = answer.comparison
    document: dict[str, Any] = {
        "stack": answer.stack,
        "setups": list(answer.setups),
        "applied": answer.applied,
        "clear": answer.is_clear,
        "keys": dict(answer.keys) if answer.keys else None,
    }
    if comparison:
        document["imported"] = {row.address: row.id for row in comparison.imported}
        document["moved"] = dict(comparison.moved)
        for key in ("created", "changed", "removed", "left_behind", "unchecked", "conflicts"):
            document[key] = list(getattr(comparison, key))
    return document


def _summary(answer: Answer) -> str:
    if answer.applied and not answer.setups:
        return "nothing to adopt: the stack was applied already"
    if not answer.setups:
        return "no set-up of another tool was found; before a first apply, run `nodeless doctor`"
    if len(answer.setups) > 1:
        return f"several set-ups were found: {', '.join(answer.setups)}; remove all but one first"
    state = "it can be taken over" if answer.is_clear else "something is in the way"
    return f"found {answer.setups[0]}; {state}"


def _lines(answer: Answer, *, quiet: bool) -> Iterator[str]:
    if answer.keys is None or answer.comparison is None:
        return
    yield f"# {answer.stack}: set up by {answer.setups[0]}. Add these keys to the cluster in the file:"
    yield from _yaml(answer.keys)
    if quiet:
        return
    for key, title in TITLES:
        rows = getattr(answer.comparison, key)
        if rows:
            yield ""
            yield f"{title}:"
            yield from (f"  - {row if isinstance(row, str) else f'{row.address}  ({row.id})'}" for row in rows)


def _yaml(tree: Mapping[str, Any], indent: int = 0) -> Iterator[str]:
    from nodeless.live.file_text import scalar

    for key, value in tree.items():
        start = f"{' ' * indent}{key}:"
        if isinstance(value, Mapping):
            yield start
            yield from _yaml(value, indent + 2)
        elif isinstance(value, list):
            yield start
            yield from (f"{' ' * indent}  - {scalar(item)}" for item in value)
        else:
            yield f"{start} {scalar(value)}"
