"""The page: everything is on it, nothing breaks out, and the same input gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from nodeless.differences.comparison import compare
from nodeless.differences.difference import Effect
from nodeless.explanation.settings import Setting
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.report.content import ClusterContent, Comparison, as_json
from nodeless.report.markup import Markup
from nodeless.report.page import MARKER, page
from nodeless.report.parts.difference import EFFECTS
from nodeless.report.parts.sizes import TIGHT
from nodeless.resolved.statement_words import in_words
from nodeless.upgrade.sections import Section
from tests.report.conftest import Made
from tests.report.hostile import ATTACK, poisoned
from tests.report.test_markup import Reader
from tests.synthesized import Synthesized

ContentOf = Callable[..., ClusterContent]


def written(*clusters: ClusterContent) -> str:
    return page(clusters, source="clusters.yaml")


def text_of(html: str) -> str:
    """Return the text of a page, without its style sheet and its script."""
    body = re.sub(r"<(style|script)>.*?</\1>|<wbr>", "", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "\n", body))


def test_every_resource_of_the_json_is_named(made: Made, content: ContentOf) -> None:
    for name, (_, stack) in made.items():
        shown = text_of(written(content(name))).split("\n")

        assert Synthesized(stack).addresses() <= set(shown)


def test_every_statement_is_there_with_its_words_actions_resources_and_conditions(content: ContentOf) -> None:
    cluster = content("every")
    shown = text_of(written(cluster))

    for document in cluster.documents:
        for statement in document.statements:
            words = in_words(statement)
            assert f"{words[0].upper()}{words[1:]}." in shown
            for text in (statement.sid or "(no Sid)", *statement.actions, *statement.resources):
                assert text in shown
            for condition in statement.conditions:
                assert {condition.test, condition.variable, *condition.values} <= set(shown.split("\n"))
            for principal in statement.principals:
                for each in principal.identifiers:
                    assert ("anyone" if each == "*" else f"{principal.type} {each}") in shown


def test_policies_that_exist_already_are_named_with_their_role(content: ContentOf) -> None:
    shown = text_of(written(content()))

    assert "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy" in shown
    assert "Policies that exist already" in shown
    assert "Policies that exist already" not in text_of(written(replace(content(), managed=())))


def test_each_size_has_a_bar_and_what_is_left(content: ContentOf) -> None:
    cluster = content()
    html = written(cluster)

    for proof in cluster.sizes:
        assert f'<rect width="{proof.size}" height="1"></rect>' in html
        assert f"{proof.headroom:,}" in html
    full = replace(cluster.sizes[0], size=MANAGED_POLICY_LIMIT - TIGHT + 1)
    assert f'<rect width="{full.size}" height="1" class="tight">' in written(replace(cluster, sizes=(full,)))
    assert "Policy sizes" not in written(replace(cluster, sizes=()))


def test_one_cluster_needs_no_list_and_several_have_links(content: ContentOf) -> None:
    assert 'id="clusters"' not in written(content())

    html = written(content("demo"), content("every"))

    assert '<a href="#cluster-of-demo">demo</a>' in html
    assert 'id="cluster-of-every"' in html
    assert "<title>2 clusters - nodeless report</title>" in html
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r' href="#([^"]*)"', html)) <= set(ids)


def test_ids_are_unique_whatever_the_stacks_are_called(content: ContentOf) -> None:
    names = ("a", "a-name", "a-stack", "stack-of-a", "name-of-a", "picture-title", "of-a")
    html = written(*(replace(content(), stack=name) for name in names))

    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))


def test_the_page_allows_nothing_but_its_own_style_sheet_and_script(content: ContentOf) -> None:
    html = written(content())
    policy = unescape(re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[0])

    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "img-src data:;" in policy
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert " style=" not in html
    assert '<link rel="icon" href="data:,">' in html
    assert re.findall(r"\bhttps?://(?!www\.w3\.org/2000/svg)[^\s\"'<]*", re.sub(r"<td.*?</td>", "", html)) == []


def test_the_same_input_gives_the_same_page_and_it_begins_with_the_marker(content: ContentOf) -> None:
    html = written(content())

    assert html == written(content())
    assert html.startswith(MARKER)


def test_no_text_of_a_stack_breaks_out(made: Made, content: ContentOf) -> None:
    bad = poisoned(made["every"][1])
    comparison = Comparison(
        before=ATTACK,
        after=ATTACK,
        differences=compare(made["every"][1], bad),
        upgrade=(Section(title=ATTACK, header=(ATTACK,), rows=((ATTACK,),), lines=(ATTACK,)),),
    )
    cluster = replace(
        content("every", stack=bad, comparison=comparison),
        settings=(
            Setting(path=(ATTACK,), value=ATTACK, source=ATTACK, in_force=ATTACK),
            Setting(path=(ATTACK,), value={ATTACK: [ATTACK]}, source=ATTACK),
        ),
        facts={ATTACK: ATTACK, "Region": ATTACK, "Karpenter": ATTACK},
        stack=ATTACK,
    )
    html = page([cluster, cluster], source=ATTACK)
    read = Reader(Markup(html))

    assert read.tags.count("script") == 1
    assert "img" not in read.tags
    assert not any(name.startswith("on") for name, _ in read.attributes)
    assert ATTACK[:20] in read.text
    assert "\u2028" not in html
    assert "\u202e" not in html
    assert "\\u202e" in html


def test_without_a_comparison_nothing_is_said_about_differences(content: ContentOf) -> None:
    assert ">Difference<" not in written(content())


def test_what_is_the_same_and_what_cannot_be_compared_is_said(content: ContentOf) -> None:
    same = Comparison(before="a", after="b")
    broken = Comparison(before="a", after="b", problem="not JSON: Expecting value")

    assert "Nothing differs." in text_of(written(content(comparison=same)))
    assert "Not JSON: Expecting value." in text_of(written(content(comparison=broken)))


def test_differences_are_counted_by_address_and_the_gravest_is_first(made: Made, content: ContentOf) -> None:
    before, after = made["demo"][1], json.loads(json.dumps(made["demo"][1]))
    queue = after["resource"]["aws_sqs_queue"]["interruption"]
    queue["name"], queue["message_retention_seconds"] = "other", 60
    del after["resource"]["aws_eks_access_entry"]
    after["resource"]["aws_new_thing"] = {"x": {"size": 1}}
    differences = compare(before, after)

    html = written(content(comparison=Comparison(before="a", after="b", differences=differences)))
    part = text_of(html.partition('id="difference-of-demo"')[2].partition('id="permissions-of-demo"')[0])
    shown = [line for line in part.split("\n") if line.strip()]

    assert {each.effect for each in differences} >= {Effect.REPLACE, Effect.UPDATE, Effect.CREATE, Effect.DESTROY}
    places = [shown.index(word) for word in ("replace", "destroy", "create")]
    assert places == sorted(places)
    assert shown.count("aws_sqs_queue.interruption") == 1 + sum(
        each.cause == "aws_sqs_queue.interruption" for each in differences
    )
    assert "a new block" in shown
    assert "the block is gone" in shown
    assert shown[shown.index("message_retention_seconds") :][1:5] == ["was ", "300", "is ", "60"]


def test_every_effect_has_a_word() -> None:
    assert EFFECTS.keys() == set(Effect)


def test_sections_of_an_upgrade_are_tables_and_lists(content: ContentOf) -> None:
    sections = (
        Section(title="Steps", lines=("one", "two"), numbered=True),
        Section(title="Rules", header=("", "rule"), rows=(("+", "spot"),)),
    )
    html = written(content(comparison=Comparison(before="a", after="b", upgrade=sections)))

    assert "<h4>Steps</h4><ol><li>one</li><li>two</li></ol>" in html
    assert '<td role="cell"><span class="plus">+</span></td><td data-label="rule" role="cell">spot</td>' in html


def test_the_data_as_json_has_the_words_and_the_differences(made: Made, content: ContentOf) -> None:
    after: dict[str, Any] = json.loads(json.dumps(made["demo"][1]))
    after["resource"]["aws_new_thing"] = {"x": {"size": 1}}
    comparison = Comparison(before="a", after="b", differences=compare(made["demo"][1], after))

    (cluster,) = json.loads(as_json([content(comparison=comparison)]))["clusters"]

    (difference,) = cluster["comparison"]["differences"]
    assert difference["address"] == "aws_new_thing.x"
    assert difference["effect"] == "create"
    assert "old" not in difference
    assert difference["new"] == {"size": 1}
    assert all(row["in_words"] for document in cluster["documents"] for row in document["statements"])
    assert all(row["size"] + row["headroom"] == row["limit"] == MANAGED_POLICY_LIMIT for row in cluster["sizes"])
    assert {row["path"] for row in cluster["settings"]} >= {"name", "karpenter.version"}


@pytest.mark.parametrize("name", ["page.css", "page.js"])
def test_style_sheet_and_script_end_only_where_they_end(name: str, content: ContentOf) -> None:
    tag = {"page.css": "style", "page.js": "script"}[name]

    assert written(content()).count(f"</{tag}") == 1


def test_every_setting_is_there_with_its_value_and_where_it_comes_from(content: ContentOf) -> None:
    html = written(content("every"))
    rows = re.findall(r"<tr role=\"row\">.*?</tr>", html.partition('id="settings-of-every"')[2], flags=re.DOTALL)
    shown = {text_of(row).split("\n")[3]: text_of(row) for row in rows[1:]}

    assert "set in defaults" in shown["region"]
    assert '<span class="badge">set in defaults</span>' in html
    assert '<span class="muted">looked up</span>' in html
    assert "123456789012" in shown["account"]
    assert "found by Terraform" in shown["endpoint"]
    assert "none" in shown["permissions_boundary"]
    assert "default" in shown["delivery"]
    assert "every-karpenter" in re.sub(r"\n", "", shown["interruption.queue_name"])
    assert "nodeless adds one named default" in re.sub(r"\n", "", shown["node_pools"])
    assert len(shown) == len(content("every").settings)


def test_a_value_with_a_hidden_part_says_so(content: ContentOf) -> None:
    setting = Setting(path=("backend", "address"), value="https://x", source="set", is_hidden=True)

    assert "a part that may be secret is not shown" in written(replace(content(), settings=(setting,)))


def test_a_value_that_leads_to_another_one_shows_both(content: ContentOf) -> None:
    setting = Setting(path=("karpenter", "version"), value="1.14", source="set", in_force="1.14.1")

    assert "in force: 1.14.1" in text_of(written(replace(content(), settings=(setting,)))).replace("\n", "")
