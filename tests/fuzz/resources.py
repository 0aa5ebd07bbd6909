"""Node pools, node classes and Helm values of a release, from the tables that say what each release reads."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from nodeless.karpenter import chart_keys, custom_resource_fields as fields
from nodeless.karpenter.custom_resources import api_of
from nodeless.karpenter.versions import Release, Window, in_effect
from nodeless.resolved.resources import all_manifests
from nodeless.spec.guards.backends import RULES, Rule
from nodeless.spec.guards.statements import ACTION, OPERATORS
from nodeless.spec.model import Selector
from nodeless.spec.resolution import resolve
from nodeless.trees import merged, nested, steps
from tests.fuzz.model_values import ANYTHING, SCALARS, SPECIAL, Around, Special, Values, from_pattern, section

Rows = Sequence[tuple[Window, Any]]

LABEL = st.sampled_from(["team", "example.com/tier", "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type"])
QUANTITY = st.sampled_from(["1", "1000Gi", "0.5", "100m", 10, 0])
WORD = st.sampled_from(["spot", "on-demand", "4", "m5.large", "a", "", "ü"]) | st.text(max_size=5)
NAME = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)

OF_TYPE: dict[str, Values] = {
    fields.STRING: WORD,
    fields.INTEGER: st.integers(0, 200),
    fields.BOOLEAN: st.booleans(),
    fields.OBJECT: st.dictionaries(NAME, SCALARS, max_size=2),
    fields.STRINGS: st.lists(WORD, max_size=3),
    fields.OBJECTS: st.lists(st.dictionaries(NAME, SCALARS, max_size=2), max_size=2),
    fields.STRING_MAP: st.dictionaries(LABEL, WORD, max_size=2),
    fields.QUANTITIES: st.dictionaries(st.sampled_from(["cpu", "memory", "nodes"]), QUANTITY, max_size=2),
}


@cache
def defaults(release: Release) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the spec of the pool and of the class that the release starts with."""
    row = {"name": "demo", "region": "eu-north-1", "karpenter": {"version": str(release)}}
    ((_, installation),) = resolve({"clusters": [row]}, source="fuzz")
    api = api_of(release)
    by_kind = {manifest["kind"]: manifest["spec"] for manifest in all_manifests(installation)}
    return by_kind[api.pool_kind], by_kind[api.class_kind]


def leaf(path: str, release: Release, allowed: Rows, texts: Rows, numbers: Rows) -> Values:
    """Return values for one field: those of the tables, where they say more than its type."""
    words = [word for field, word in in_effect(release, allowed) if field == path]
    patterns = [pattern for field, pattern, *_ in in_effect(release, texts) if field == path]
    ranges = [row[1:] for row in in_effect(release, numbers) if row[0] == path]
    if words:
        return st.sampled_from(words)
    if patterns:
        return from_pattern(patterns[0])
    if ranges:
        return st.integers(*ranges[0])
    return OF_TYPE[fields.FIELD_TYPES.get(path, fields.STRING)]


@st.composite
def spec(draw: st.DrawFn, release: Release, *, of_a_pool: bool) -> dict[str, Any]:
    """Return a spec: the default one with some of its fields changed and others added."""
    base = deepcopy(defaults(release)[0 if of_a_pool else 1])
    rows: Rows = fields.POOL_FIELDS if of_a_pool else fields.CLASS_FIELDS
    tables: tuple[Rows, Rows, Rows] = (
        (fields.POOL_VALUES, fields.POOL_TEXTS, fields.POOL_NUMBERS)
        if of_a_pool
        else (fields.CLASS_VALUES, fields.CLASS_TEXTS, fields.CLASS_NUMBERS)
    )
    paths = in_effect(release, rows)
    for path in draw(st.lists(st.sampled_from(paths), unique=True, max_size=3)):
        value = draw(leaf(path, release, *tables))
        above, _, below = path.partition("[].")
        if not below:
            base = merged(base, nested(path, value))
            continue
        # An item has the other fields of its list too, so that the required ones are there.
        siblings = [other for other in paths if other.startswith(f"{above}[].")]
        item = {
            name: draw(leaf(other, release, *tables))
            for other in siblings
            if other == path or draw(st.booleans())
            if len(steps(name := other.removeprefix(f"{above}[]."))) == 1
        }
        base = merged(base, nested(above, [item | {below: value}]))
    return base


def named_specs(at: Around, *, of_a_pool: bool) -> Values:
    """Return a list of pools or classes."""
    names = st.sampled_from(["default", "gpu", "general"])
    return st.lists(
        st.fixed_dictionaries({"name": names, "spec": spec(at.tables, of_a_pool=of_a_pool)}),
        max_size=2,
        unique_by=lambda row: str(row["name"]),
    )


@st.composite
def chart_values(draw: st.DrawFn, at: Around) -> dict[str, Any]:
    """Return Helm values that the chart of the release reads."""
    tree: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(sorted(chart_keys.keys_read(at.tables))), max_size=3)):
        tree = merged(tree, nested(name, draw(ANYTHING)))
    return tree


ACTIONS = st.lists(from_pattern(ACTION.pattern), min_size=1, max_size=3)
TAIL = from_pattern(r"[a-z]{2,5}:[a-z0-9*-]{0,6}:([0-9]{12})?:[A-Za-z0-9/*${}:]{1,12}")
CONDITIONS = st.dictionaries(
    st.sampled_from([*OPERATORS, "Null", "ForAnyValue:StringLike"]),
    st.dictionaries(
        from_pattern(r"[a-z0-9]{2,4}:[A-Za-z0-9/]{1,8}"),
        st.text(min_size=1) | st.lists(st.text(), min_size=1),
        min_size=1,
        max_size=2,
    ),
    max_size=2,
)


def backend_values(rule: Rule) -> Values:
    """Return values for a key of a backend, as the rule wants them."""
    text = from_pattern(rule.pattern)
    return st.lists(text, max_size=3) if rule.key.endswith("[]") else text


def _of_a_backend(rule: Rule) -> Special:
    return lambda _: backend_values(rule)


def selectors(at: Around) -> Values:
    """Return selectors of which one matches the controller's pods, if they are in their default namespace."""
    controller = {"namespace": "karpenter", "labels": {}}
    return st.lists(section(Selector, at, ("fargate", "selectors")), max_size=4).map(lambda rows: [controller, *rows])


def register() -> None:
    """Say which keys of the model are made here."""
    for rule in chain.from_iterable(RULES.values()):
        SPECIAL[f"backend.{rule.key.removesuffix('[]')}"] = _of_a_backend(rule)
    SPECIAL["extra_statements.Action"] = lambda _: ACTIONS
    SPECIAL["extra_statements.Resource"] = lambda at: st.lists(
        st.just("*") | TAIL.map(lambda tail: f"arn:{at.partition.name}:{tail}"), min_size=1, max_size=3
    )
    SPECIAL["extra_statements.Condition"] = lambda _: CONDITIONS
    SPECIAL["fargate.selectors"] = selectors
    SPECIAL["karpenter.values"] = chart_values
    SPECIAL["node_pools"] = lambda at: named_specs(at, of_a_pool=True)
    SPECIAL["node_classes"] = lambda at: named_specs(at, of_a_pool=False)
