"""Each bound of a file holds on both sides, and what is below all of them is checked in no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.spec import bounds, validation
from nodeless.spec.guards import cluster
from nodeless.spec.reading import parse, read
from nodeless.spec.resolution import load, resolve
from nodeless.spec.sources import TOO_MANY

HEAD = "clusters: [{name: demo, region: eu-north-1}]\n"


def many(unit: str, count: int) -> str:
    return f"[{','.join([unit] * count)}]"


def lists_of(values: int) -> str:
    """Write lists that are this many values together, the lists counted, none of them too long."""
    rows = [f"&a {many('x', 999)}", *["*a"] * 98, many("x", values - 99 * 1000 - 2)]
    return f"[{','.join(rows)}]"


# The text that is just accepted, the one that is not, and what a message says.
SIDES = {
    "depth": ("[" * bounds.DEEPEST + "]" * bounds.DEEPEST, "[" * 65 + "]" * 65, "at most 64 levels"),
    "list": (many("x", bounds.MOST_ITEMS), many("x", bounds.MOST_ITEMS + 1), "at most 2,000 items"),
    "map": (
        "\n".join(f"k{number}: x" for number in range(bounds.MOST_ITEMS)),
        "\n".join(f"k{number}: x" for number in range(bounds.MOST_ITEMS + 1)),
        "at most 2,000 items",
    ),
    "merged map": (
        "a: &a {b: x}\nc:\n  <<: *a\n" + "\n".join(f"  k{n}: x" for n in range(bounds.MOST_ITEMS - 1)),
        "a: &a {b: x}\nc:\n  <<: *a\n" + "\n".join(f"  k{n}: x" for n in range(bounds.MOST_ITEMS)),
        "at most 2,000 items",
    ),
    "values": (lists_of(bounds.MOST_VALUES), lists_of(bounds.MOST_VALUES + 1), "at most 100,000 keys and values"),
    "characters through aliases": (
        f"- &a {'x' * 4096}\n- {many('*a', 1023)}",
        f"- &a {'x' * 4096}\n- {many('*a', 1024)}",
        "at most 4,194,304 characters",
    ),
    "number": ("9" * bounds.LONGEST_NUMBER, "9" * (bounds.LONGEST_NUMBER + 1), "at most 100 characters"),
    "hexadecimal number": ("0x" + "f" * 98, "0x" + "f" * 99, "at most 100 characters"),
}


@pytest.mark.parametrize("case", SIDES)
def test_a_text_is_bounded_on_both_sides(case: str) -> None:
    largest, too_large, expected = SIDES[case]

    parse(largest, Path("clusters.yaml"))
    with pytest.raises(SpecError) as raised:
        parse(too_large, Path("clusters.yaml"))
    (found,) = raised.value.findings
    assert found.expected.startswith(expected) or f" {expected}" in found.expected
    assert found.line


def test_a_file_is_bounded_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(f"{HEAD}#".ljust(bounds.LARGEST_FILE, "x"))
    assert load(file)
    file.write_text(f"{HEAD}#".ljust(bounds.LARGEST_FILE + 1, "x"))

    with pytest.raises(SpecError) as raised:
        load(file)
    (found,) = raised.value.findings
    assert found.expected == "a file of at most 512 KiB"
    with pytest.raises(SpecError):
        read(Path("/dev/zero"))


def clusters(count: int, **keys: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - keys of a cluster
    return [{"name": f"c{number}", "region": "eu-north-1", **keys} for number in range(count)]


def refused(tree: dict[str, Any]) -> SpecError:
    with pytest.raises(SpecError) as raised:
        resolve(tree, source="clusters.yaml")
    return raised.value


def test_the_number_of_clusters_is_bounded() -> None:
    assert len(resolve({"clusters": clusters(bounds.MOST_CLUSTERS)}, source="test")) == bounds.MOST_CLUSTERS

    (found,) = refused({"clusters": clusters(bounds.MOST_CLUSTERS + 1)}).findings
    assert (found.where(), found.expected) == ("clusters", "at most 2,000 clusters in one run")


def test_defaults_count_in_every_cluster() -> None:
    tags = {"tags": {f"k{number}": "v" for number in range(30)}}
    long = {"karpenter": {"values": {"podAnnotations": {"a": "x" * 2200}}}}
    assert resolve({"defaults": tags, "clusters": clusters(400)}, source="test")

    values = refused({"defaults": {"node_pools": [tags] * 8}, "clusters": clusters(400)})
    characters = refused({"defaults": long, "clusters": clusters(bounds.MOST_CLUSTERS)})
    assert [found.expected for found in (*values.findings, *characters.findings)] == [
        "at most 200,000 keys and values in all clusters of one run, each with the defaults",
        "at most 4,194,304 characters in all clusters of one run, each with the defaults",
    ]


def test_a_run_reports_a_bounded_number_of_problems() -> None:
    exactly = refused({"clusters": clusters(1, **{f"key{number}": 1 for number in range(bounds.MOST_FINDINGS)})})
    in_one = refused({"clusters": clusters(1, **{f"key{number}": 1 for number in range(1900)})})
    in_guards = refused({"clusters": clusters(1, karpenter={"values": {f"key{number}": 1 for number in range(1900)}})})

    assert len(exactly.findings) == bounds.MOST_FINDINGS
    for error in (in_one, in_guards):
        assert len(error.findings) == bounds.MOST_FINDINGS + 1
        assert error.findings[-1].problem == TOO_MANY.problem
        assert str(error).endswith(": more than 200 problems")


def test_equal_problems_of_many_clusters_do_not_hide_others() -> None:
    same = clusters(bounds.MOST_FINDINGS + 50, tgas={})

    error = refused({"clusters": [*same, {**same[0], "name": "other", "kaprenter": {}}]})

    assert len(error.findings) == bounds.MOST_FINDINGS + 52
    assert str(error).count("unknown key: ") == 2
    most = refused({"clusters": clusters(bounds.MOST_CLUSTERS - 1, tgas={}, kaprenter={})})
    assert len(most.findings) == bounds.MOST_EQUAL + 1


def test_problems_that_are_not_reported_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def closest(word: str, _: object) -> None:
        searched.append(word)

    monkeypatch.setattr(cluster, "closest", closest)
    refused({"clusters": clusters(1, karpenter={"values": {f"key{number}": 1 for number in range(1900)}})})

    assert bounds.MOST_FINDINGS < len(set(searched)) < 1000


def test_a_cluster_with_too_many_problems_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def take_out(*_: object) -> None:
        pytest.fail("each problem was taken out, to check the rest")

    monkeypatch.setattr(validation, "_take_out", take_out)

    assert len(refused({"clusters": clusters(1, **{f"key{number}": 1 for number in range(300)})}).findings) == 201


def test_the_problems_of_a_text_are_bounded_too() -> None:
    with pytest.raises(SpecError) as raised:
        parse("\n".join(f"- !tag{number} x" for number in range(1000)), Path("clusters.yaml"))

    assert len(raised.value.findings) == bounds.MOST_FINDINGS


def test_a_value_that_an_alias_made_large_is_shown_in_brief(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(f"clusters:\n- name: [&a {'x' * 2000}, {many('*a', 1500)}]\n  region: eu-north-1\n")

    with pytest.raises(SpecError) as raised:
        load(file)
    (found,) = raised.value.findings
    assert len(str(found.value)) < 300
