"""The graph of a stack: what refers to what, and what a resource waits for behind data sources and locals."""

from __future__ import annotations

from typing import Any

from nodeless.stack_graph import between_resources, dependencies, is_resource, reach

STACK: dict[str, Any] = {
    "resource": {
        "role": {"a": {"trust": "${data.document.trust.json}", "//": "${role.ignored}"}},
        "policy": {"b": {"name": "$${role.a}"}},
        "release": {"c": {"values": ["${yamlencode(local.values)}"], "depends_on": ["policy.b"]}},
    },
    "data": {"document": {"trust": {"account": "${data.identity.current.id}"}}, "identity": {"current": {}}},
    "locals": {"values": {"role": "${role.a.arn}", "other": "${local.more}"}, "more": {"back": "${local.values}"}},
}


def test_references_are_found_in_templates_and_in_depends_on() -> None:
    assert dependencies(STACK) == {
        "role.a": {"data.document.trust"},
        "policy.b": set(),
        "release.c": {"local.values", "policy.b"},
        "data.document.trust": {"data.identity.current"},
        "data.identity.current": set(),
        "local.values": {"role.a", "local.more"},
        "local.more": {"local.values"},
    }


def test_a_resource_waits_for_what_is_behind_data_sources_and_locals() -> None:
    assert between_resources(dependencies(STACK)) == {
        "role.a": set(),
        "policy.b": set(),
        "release.c": {"policy.b", "role.a"},
    }


def test_everything_behind_an_address_is_reached() -> None:
    assert reach(dependencies(STACK), "release.c") == {
        "local.values",
        "local.more",
        "policy.b",
        "role.a",
        "data.document.trust",
        "data.identity.current",
    }
    assert not is_resource("data.identity.current")
    assert not is_resource("local.more")
