"""Writes a report as one HTML page that loads nothing: style sheet, script and picture are in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.report.content import ClusterContent, Comparison
from nodeless.report.ids import id_of
from nodeless.report.markup import NOTHING, Markup, breakable, element, lines
from nodeless.report.parts.destroy import destroy_part
from nodeless.report.parts.difference import difference_part
from nodeless.report.parts.permissions import permissions_part
from nodeless.report.parts.settings import settings_part
from nodeless.report.parts.sizes import sizes_part
from nodeless.report.parts.stack import stack_part
from nodeless.report.parts.tables import code, table

# A file that begins with this was written by `nodeless report`, which may replace it.
MARKER = "<!doctype html>\n<!-- written by nodeless report -->\n"
CLUSTER = "cluster"


def page(clusters: Sequence[ClusterContent], *, source: str) -> str:
    """Write the page; `source` is the name of the file that describes the clusters."""
    style, script = _asset("page.css"), _asset("page.js")
    names = ", ".join(cluster.stack for cluster in clusters)
    title = f"{names} - nodeless report" if len(clusters) == 1 else f"{len(clusters)} clusters - nodeless report"
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # Without an icon of its own, a browser asks the server for one.
        element("link", rel="icon", href="data:,"),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        _header(source),
        element("main", lines([_overview(clusters), *(_cluster(each) for each in clusters)]), id="content"),
        element("footer", "Written by nodeless report. The same input gives the same page."),
        element("script", Markup(script)),
    )
    return f"{MARKER}{element('html', head, body, lang='en').text}\n"


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _header(source: str) -> Markup:
    about = ("What nodeless synth writes for ", code(source), ", laid out for a review.")
    return element(
        "header",
        element("p", "nodeless report", class_="brand"),
        element("h1", "Karpenter on EKS"),
        element("p", *about, class_="muted"),
    )


def _overview(clusters: Sequence[ClusterContent]) -> Markup:
    """List the clusters with links, if there are several."""
    if len(clusters) == 1:
        return NOTHING
    header = ("Cluster", "Region", "Karpenter", "Resources", "Statements", "Fullest policy", "Differences")
    rows = [
        (
            element("a", cluster.stack, href=f"#{id_of(CLUSTER, cluster.stack)}"),
            cluster.facts["Region"],
            cluster.facts["Karpenter"],
            sum(map(len, cluster.destroy)),
            cluster.statements,
            f"{max((proof.size for proof in cluster.sizes), default=0):,} of {MANAGED_POLICY_LIMIT:,}",
            _difference_count(cluster.comparison),
        )
        for cluster in clusters
    ]
    return _section("h2", "Clusters", "clusters", "clusters-name", table(header, rows, class_="stacked", heads=1))


def _difference_count(comparison: Comparison | None) -> str:
    if comparison is None:
        return "not compared"
    return comparison.problem or str(len(comparison.differences))


def _cluster(cluster: ClusterContent) -> Markup:
    stack = cluster.stack
    parts = [
        ("stack", "The stack", stack_part(cluster.picture, stack)),
        ("difference", "Difference", difference_part(cluster.comparison)),
        ("permissions", "Permissions", permissions_part(cluster.documents, cluster.managed, stack)),
        ("sizes", "Policy sizes", sizes_part(cluster.sizes)),
        ("destroy", "Order of a destroy", destroy_part(cluster.destroy, cluster.resources)),
        ("settings", "Settings", settings_part(cluster.settings)),
    ]
    shown = [(key, title, markup) for key, title, markup in parts if markup.text]
    jumps = [element("li", element("a", title, href=f"#{id_of(key, stack)}")) for key, title, _ in shown]
    facts = [
        element("div", element("dt", name), element("dd", breakable(value))) for name, value in cluster.facts.items()
    ]
    return element(
        "section",
        element("h2", stack, id=id_of("cluster-name", stack)),
        element("dl", *facts, class_="facts"),
        element("nav", element("ul", *jumps, class_="jumps"), aria_label=f"Parts of {stack}"),
        lines(
            _section("h3", title, id_of(key, stack), id_of(f"{key}-name", stack), markup)
            for key, title, markup in shown
        ),
        id=id_of(CLUSTER, stack),
        class_="cluster",
        aria_labelledby=id_of("cluster-name", stack),
    )


def _section(level: str, title: str, id_: str, name_id: str, content: Markup) -> Markup:
    return element(
        "section", element(level, title, id=name_id), content, id=id_, class_="part", aria_labelledby=name_id
    )
