"""`nodeless init`: write a clusters.yaml, from a template or from a live cluster; never over a file that exists."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.cli.doctor import add_profile
from nodeless.cli.options import DONE, Verbs, add_json, add_quiet
from nodeless.cli.statuses import SIGNALLED
from nodeless.finding import MISSING, Finding, SpecError
from nodeless.sinks.terminal import printable

if TYPE_CHECKING:
    from nodeless.live.draft import Draft

COMMAND = "nodeless init"
DEFAULT_FILE = Path("clusters.yaml")
INTERRUPTED = SIGNALLED + 2  # As Ctrl-C.
ABOUT = """\
Write a clusters.yaml with comments. A file that exists is never overwritten.

With --cluster, the values come from the live cluster: account, version, endpoint, issuer, private subnets, security
groups, authentication mode, OIDC provider, and the newest Karpenter release that runs on it. What is missing before an
apply is written at the top of the file, and printed. Nothing is changed in AWS. This needs boto3:
pip install boto3.
"""
EXAMPLES = """\
examples:
  nodeless init --name demo --region eu-north-1
  nodeless init --cluster demo --region eu-north-1
  nodeless init --interactive
"""


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "init",
        help="write a clusters.yaml, also from a live cluster",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "--config",
        "--out",
        type=Path,
        default=DEFAULT_FILE,
        metavar="FILE",
        help="the file to write (default: clusters.yaml)",
    )
    source = options.add_mutually_exclusive_group()
    source.add_argument("--name", metavar="CLUSTER", help="the name of the cluster, without a look at AWS")
    source.add_argument("--cluster", metavar="CLUSTER", help="an EKS cluster to read the values from")
    source.add_argument("--interactive", action="store_true", help="ask for the cluster and the release, on a terminal")
    options.add_argument("--region", metavar="REGION", help="the region of the cluster")
    options.add_argument("--pools", action="store_true", help="write the default node pool and class out, to be edited")
    add_profile(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run, reads_account=True, writes=True)


def run(options: argparse.Namespace) -> int:
    """Write the file, and say what is missing and what to do next."""
    from nodeless.cli.questions import EndOfInputError

    _check_absent(options.config)
    try:
        draft = _draft(options)
    except EndOfInputError:
        print("\nnodeless: interrupted (end of input), nothing was written", file=sys.stderr)
        return INTERRUPTED
    if options.pools:
        draft = _with_pools(draft)
    _write(options.config, _text(options.config, draft))
    if options.json:
        print(json.dumps(_as_json(options, draft), indent=2))
    elif not options.quiet:
        for line in _prose(options, draft):
            print(printable(line))
    return DONE


def _text(file: Path, draft: Draft) -> str:
    """Write the draft as a file that loads: AWS, or whoever answers in its place, may say anything."""
    from nodeless.live.file_text import file_text
    from nodeless.spec.reading import parse
    from nodeless.spec.resolution import resolve

    text = file_text(draft)
    tree, layout = parse(text, file)
    resolve(tree, source=COMMAND, layout=layout)
    return text


def _draft(options: argparse.Namespace) -> Draft:
    if options.interactive:
        return _asked(options)
    if options.cluster is None:
        from nodeless.live.draft import without_cluster

        return without_cluster(options.name or "demo", options.region or "eu-north-1")
    return _surveyed(options, options.cluster, _region(options))


def _surveyed(options: argparse.Namespace, cluster: str, region: str, release: str | None = None) -> Draft:
    from nodeless.cli.progress import progress
    from nodeless.live.boto3_installed import check_boto3

    check_boto3(COMMAND)
    from nodeless.karpenter.releases import find
    from nodeless.live.account import opened
    from nodeless.live.cluster import described
    from nodeless.live.survey import Survey

    with progress(f"Looking at {printable(cluster)}"):
        account = opened(region, profile=options.profile)
        live = described(account, cluster)
        return Survey(account, live, release=find(release) if release else None).draft()


def _region(options: argparse.Namespace) -> str:
    region: str | None = options.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        fix = "name it with --region, or set AWS_REGION"
        raise SpecError(COMMAND, [Finding(("--region",), MISSING, "the region of the cluster", fix)])
    _check_region(region)
    return region


def _check_region(region: str) -> None:
    """Refuse what is no region before it becomes part of an address."""
    from nodeless.resolved.partitions import nearest_region, partition_of

    if partition_of(region) is None:
        near = nearest_region(region)
        fix = f"did you mean {near}?" if near else "write one such as eu-north-1"
        raise SpecError(COMMAND, [Finding(("--region",), region, "an AWS region", fix)])


def _asked(options: argparse.Namespace) -> Draft:
    """Ask on a terminal for what the options of the command line would say."""
    from nodeless.live.boto3_installed import check_boto3

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        fix = "run it on a terminal, or name the cluster with --cluster and --region"
        raise SpecError(COMMAND, [Finding(("--interactive",), "no terminal", "a terminal to ask on", fix)])
    check_boto3(COMMAND)
    from nodeless.cli.questions import ask, ask_yes_or_no
    from nodeless.karpenter.releases import UnknownReleaseError, find, supports
    from nodeless.live.account import opened
    from nodeless.live.cluster import cluster_names, described
    from nodeless.live.survey import newest_release

    def known_region(text: str) -> str | None:
        try:
            _check_region(text)
        except SpecError as error:
            return error.findings[0].fix
        return None

    def known_release(text: str) -> str | None:
        try:
            release = find(text)
        except UnknownReleaseError as error:
            return error.advice
        fits = supports(release, minor) or release == newest
        return None if fits else f"{release} does not run on Kubernetes 1.{minor}; {newest} does"

    default = options.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
    region = ask("Region", default, known_region)
    account = opened(region, profile=options.profile)
    names = cluster_names(account)
    if not names:
        fix = "create a cluster first, or choose another region"
        raise SpecError(COMMAND, [Finding(("region",), region, "a region with an EKS cluster", fix)])
    print(printable(f"Clusters in {region}: {', '.join(names)}"), file=sys.stderr)
    cluster = ask("Cluster", names[0], lambda text: None if text in names else "it is not one of these")
    minor = described(account, cluster).kubernetes_minor
    newest = newest_release(minor)
    release = ask("Karpenter release", str(newest), known_release)
    options.pools = ask_yes_or_no("Write the default node pool and class out, to be edited", default=options.pools)
    return _surveyed(options, cluster, region, release)


def _with_pools(draft: Draft) -> Draft:
    """Add the pool and the class that would be created by default."""
    from dataclasses import replace

    from nodeless.live.draft import plain
    from nodeless.resolved.resources import all_manifests
    from nodeless.spec.resolution import resolve

    ((_, installation),) = resolve({"clusters": [plain(draft.keys)]}, source=COMMAND)
    *classes, pool = all_manifests(installation)
    written = {
        "node_classes": [{"name": each["metadata"]["name"], "spec": each["spec"]} for each in classes],
        "node_pools": [{"name": pool["metadata"]["name"], "spec": pool["spec"]}],
    }
    return replace(draft, keys={**draft.keys, **written})


def _check_absent(file: Path) -> None:
    """Say early that the file exists: nobody likes to answer questions for nothing."""
    if os.path.lexists(file):
        raise _exists(file)


def _exists(file: Path) -> SpecError:
    fix = "edit that file, or write another one with --config FILE"
    return SpecError(COMMAND, [Finding(("--config",), str(file), "a file that does not exist yet", fix)])


def _write(file: Path, text: str) -> None:
    """Create the file; another one that came meanwhile stays, and a failed write leaves nothing."""
    try:
        opened = file.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        raise _exists(file) from None
    except (OSError, ValueError) as error:
        finding = Finding(
            ("--config",), str(error), "a file that can be created", "choose another folder with --config FILE"
        )
        raise SpecError(COMMAND, [finding]) from None
    try:
        with opened:
            opened.write(text)
    except BaseException:
        with suppress(OSError):
            file.unlink()
        raise


def _as_json(options: argparse.Namespace, draft: Draft) -> dict[str, Any]:
    from nodeless.live.draft import plain

    return {
        "file": str(options.config),
        "found": dict(draft.found or {"cluster": plain(draft.keys)}),
        "missing": list(draft.missing),
        "existing": list(draft.existing),
        "next": list(_next(options, draft)),
    }


def _prose(options: argparse.Namespace, draft: Draft) -> Iterator[str]:
    yield f"Written: {options.config}"
    for title, rows in (("Before an apply:", draft.missing), ("Already in the account:", draft.existing)):
        if rows:
            yield ""
            yield title
            yield from (line for row in rows for line in _item(row))
    yield ""
    yield "Next:"
    yield from (f"  {line}" for line in _next(options, draft))


def _item(row: str) -> list[str]:
    """Fold an item of a list at the width of the terminal, if there is one."""
    if not sys.stdout.isatty():
        return [f"  - {row}"]
    import shutil
    import textwrap

    return textwrap.wrap(
        row,
        shutil.get_terminal_size().columns,
        initial_indent="  - ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _next(options: argparse.Namespace, draft: Draft) -> Iterator[str]:
    from nodeless.live.draft import plain

    file = () if options.config == DEFAULT_FILE else ("--config", str(options.config))
    yield shlex.join(("nodeless", "explain", *file))
    if draft.found:
        profile = ("--profile", options.profile) if options.profile else ()
        yield shlex.join(("nodeless", "doctor", *file, *profile))
    yield shlex.join(("nodeless", "synth", *file))
    folder = shlex.quote(f"cdktf.out/stacks/{plain(draft.keys['name'])}")
    yield f"cd {folder} && terraform init && terraform apply"
