"""Every message a user can meet, in one list to read and review: a changed word is a changed line here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from syrupy.assertion import SnapshotAssertion

from nodeless.finding import Finding
from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.releases import find
from nodeless.spec.guards.pools.engine import window_in_words
from nodeless.spec.model import Cluster
from nodeless.spec.text_type import TextType
from nodeless.spec.validation import EXPLAINED
from tests.refusals import problems
from tests.spec.guards import (
    test_cluster,
    test_controller_pods,
    test_guides,
    test_limits,
    test_login,
    test_names,
    test_regions,
    test_resources,
    test_roles,
)
from tests.spec.guards.pools.mistakes import MISTAKES
from tests.spec.guards.pools.specs import default_of, findings
from tests.spec.test_chart_values import NOT_READ


def line(case: object, finding: Finding) -> str:
    return f"{case}: {finding.where()} | {finding.value} | {finding.expected} | {finding.fix}"


def in_cases(cases: dict[str, tuple[Any, ...]]) -> Iterator[str]:
    for case, (keys, *_) in cases.items():
        yield from (line(case, finding) for finding in problems(**keys))


def in_pools() -> Iterator[str]:
    for case, (version, kind, change, *_) in MISTAKES.items():
        spec = change(default_of(kind, find(version)))
        yield from (line(f"{case} ({version})", finding) for finding in findings(kind, find(version), spec))


def test_the_guards_say_this(snapshot: SnapshotAssertion) -> None:
    listed = [
        *(line(keys, finding) for keys, *_ in test_cluster.ONE_KEY_WRONG for finding in problems(**keys)),
        *in_cases(test_controller_pods.REFUSED),
        *in_cases(test_guides.REFUSED),
        *in_cases(test_limits.REFUSED),
        *in_cases(test_login.REFUSED),
        *in_cases(test_names.REFUSED),
        *in_cases(test_regions.REFUSED),
        *in_cases(test_resources.WRONG),
        *in_cases(test_roles.REFUSED),
        *(
            line(values, finding)
            for version, values, *_ in NOT_READ
            for finding in problems(karpenter={"version": version, "values": values})
        ),
    ]

    assert len(listed) > 80
    assert listed == snapshot


def test_the_checks_of_pools_and_classes_say_this(snapshot: SnapshotAssertion) -> None:
    listed = list(in_pools())

    assert len(listed) == len(MISTAKES)
    assert listed == snapshot


def test_the_advice_in_the_tables_is_this(snapshot: SnapshotAssertion) -> None:
    tables = (fields.POOL_MOVED, fields.CLASS_MOVED, fields.POOL_REQUIRED, fields.CLASS_REQUIRED)
    texts = (fields.POOL_TEXTS, fields.CLASS_TEXTS)

    assert [
        f"{window_in_words(window)}: {' | '.join(row)}" for table in (*tables, *texts) for window, row in table
    ] == snapshot


def test_the_model_says_this(snapshot: SnapshotAssertion) -> None:
    types = {row for field in Cluster.model_fields.values() for row in text_types(field)}

    assert sorted(f"{row.pattern} | {row.expected} | {row.fix} | {row.takes_references}" for row in types) == snapshot
    assert [f"{error}: {expected} | {fix}" for error, (expected, fix) in EXPLAINED.items()] == snapshot


def text_types(hint: Any) -> Iterator[TextType]:  # noqa: ANN401 - any annotation
    """Find the types of text in an annotation, at any depth."""
    for note in getattr(hint, "metadata", ()) or getattr(hint, "__metadata__", ()):
        if isinstance(note, TextType):
            yield note
    below = getattr(hint, "annotation", None)
    for part in (*(() if below is None else (below,)), *getattr(hint, "__args__", ())):
        yield from text_types(part)
    for field in getattr(hint, "model_fields", {}).values():
        yield from text_types(field)
