"""Reads upstream's own files at the tag of a release: what its CRDs accept, and what its charts read.

Only names and types are kept, as the lists in accepted/. To write the lists again, for instance after a new release:
NODELESS_UPSTREAM=<a clone of aws/karpenter-provider-aws with its tags> python -m tests.karpenter.upstream
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from nodeless.karpenter.custom_resources import api_of
from nodeless.karpenter.releases import RELEASES
from nodeless.karpenter.versions import Release
from tests.karpenter.conftest import readable

VARIABLE = "NODELESS_UPSTREAM"
ACCEPTED = Path(__file__).parent / "accepted"

# Fields and keys whose content nodeless passes on as it is.
WHOLE_FIELDS = {
    "kubeletConfiguration",
    "template.spec.kubelet",
    "kubelet",
    "metadataOptions",
    "blockDeviceMappings[].ebs",
    "capacityReservationSelectorTerms",
    "networkInterfaces",
    "placementGroupSelector",
    "connectionTracking",
    "cpuOptions",
}
WHOLE_KEYS = {("affinity",), ("postInstallHook", "image")}
# In the schema of v1beta1, because a NodeClaim has it; a NodePool may not set it.
REFUSED_FIELDS = {"template.spec.resources.requests"}

Schema = Mapping[str, Any]
# A section such as "pool" -> name -> what is known of it; None where there is nothing but the name.
Facts = dict[str, dict[str, str | None]]


class Upstream:
    """A clone of upstream with its tags; every file is read once, however many releases share it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._texts: dict[str, str] = {}
        self._trees: dict[str, Any] = {}

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", self.folder, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    @cache  # noqa: B019 - one instance, for one run
    def files(self, release: Release) -> dict[str, str]:
        """Return the files that matter at a release, each with the id of its content."""
        listing = self._git("ls-tree", "-r", f"v{release}", "--", "pkg/apis", "charts")
        return {path: fields.split()[2] for fields, path in (line.split("\t") for line in listing.splitlines())}

    def text(self, release: Release, path: str) -> str:
        """Return a file's text at a release; a missing file is empty."""
        blob = self.files(release).get(path)
        if blob is None:
            return ""
        if blob not in self._texts:
            self._texts[blob] = self._git("cat-file", "blob", blob)
        return self._texts[blob]

    def tree(self, release: Release, path: str) -> Any:  # noqa: ANN401 - any YAML
        """Return a YAML file at a release."""
        blob = self.files(release)[path]
        if blob not in self._trees:
            self._trees[blob] = YAML(typ="safe").load(self.text(release, path))
        return self._trees[blob]

    def schema(self, release: Release, kind: str) -> Schema:
        """Return the schema of a pool's or a class's spec, in the API that the release's resources are written in."""
        api = api_of(release)
        version, name = (api.pool_version, api.pool_kind) if kind == "pool" else (api.class_version, api.class_kind)
        group, _, version = version.partition("/")
        plural = f"{name.lower()}{'es' if name.endswith('s') else 's'}"
        definition = self.tree(release, f"pkg/apis/crds/{group}_{plural}.yaml")
        (served,) = (row for row in definition["spec"]["versions"] if row["name"] == version)
        spec: Schema = served["schema"]["openAPIV3Schema"]["properties"]["spec"]
        return spec

    def templates(self, release: Release, chart: str) -> Iterator[str]:
        """Return the texts of a chart's templates."""
        for path in self.files(release):
            if path.startswith(f"charts/{chart}/templates/"):
                yield self.text(release, path)


def fields(upstream: Upstream, release: Release) -> Facts:
    """Return the fields of pools and classes, each with its type."""
    return {
        kind: {
            path: type_of(schema)
            for path, schema in _leaves(upstream.schema(release, kind))
            if path not in REFUSED_FIELDS
        }
        for kind in ("pool", "class")
    }


def values(upstream: Upstream, release: Release) -> Facts:
    """Return the words that fields accept, as `field: word`; from the schemas, or from Go where they have none."""
    found: Facts = {}
    for kind in ("pool", "class"):
        words = [(path, word) for path, row in _all(upstream.schema(release, kind)) for word in row.get("enum", ())]
        found[kind] = {f"{path}: {word}": None for path, word in words if not _inside_whole(path)}
    # Before 0.32 the families stand in Go.
    listed = re.search(
        r"SupportedAMIFamilies\s*=\s*\[\]string\{([^}]*)\}", upstream.text(release, "pkg/apis/v1alpha1/register.go")
    )
    if api_of(release).name == "alpha" and listed:
        found["class"] |= {f"amiFamily: {family}": None for family in re.findall(r"AMIFamily(\w+)", listed[1])}
    for path, schema in _all(upstream.schema(release, "class")):
        for rule in _rules(schema):
            if path == "amiSelectorTerms[].alias" and (
                families := re.fullmatch(r"self\.split\('@'\)\[0\] in \[(.*)\]", rule)
            ):
                found["class"] |= {f"{path}: {family}": None for family in re.findall(r"'(\w+)'", families[1])}
    return found


def required(upstream: Upstream, release: Release) -> Facts:
    """Return the fields that must be there wherever what they stand in is there."""
    return {
        kind: {
            f"{path}.{name}".removeprefix("."): None
            for path, schema in _all(upstream.schema(release, kind))
            for name in schema.get("required", ())
            if path not in WHOLE_FIELDS and not _inside_whole(path)
        }
        for kind in ("pool", "class")
    }


def reserved_tags(upstream: Upstream, release: Release) -> Facts:
    """Return the tag keys that a class may not set; before 0.32 they are patterns in Go."""
    schema = upstream.schema(release, "class")["properties"]["tags"]
    found = []
    for rule in _rules(schema):
        found += re.findall(r"k\s*!=\s*'([^']+)'", rule)
        found += [f"{prefix}*" for prefix in re.findall(r"!k\.startsWith\('([^']+)'\)", rule)]
    return {"class": dict.fromkeys(found)}


def labels(upstream: Upstream, release: Release) -> Facts:
    """Return the labels that a pool may name in reserved domains, those domains, and the ones below them that are free.

    Before 0.32 they are in Go, those of Kubernetes in another module.
    """
    found: Facts = {"label": {}, "reserved domain": {}, "free domain": {}}
    if api_of(release).name == "alpha":
        text = upstream.text(release, "pkg/apis/v1alpha1/register.go")
        domain = re.search(r'LabelDomain += "(.+)"', text)
        inserted = re.search(r"WellKnownLabels\.Insert\(([^)]*)\)", text)
        constants = dict(re.findall(r'(Label\w+) += LabelDomain \+ "(.+)"', text))
        assert domain
        assert inserted
        names = re.findall(r"^\s+(Label\w+),", inserted[1], re.MULTILINE)
        found["label"] = {f"{domain[1]}{constants[name]}": None for name in names}
        return found
    for section in ("template.spec.requirements[].key", "template.metadata.labels"):
        (schema,) = (row for path, row in _all(upstream.schema(release, "pool")) if path == section)
        for rule in _rules(schema):
            *allowed, reserved = rule.split(" || ")
            for part in allowed:
                if " in [" in part:
                    found["label"] |= dict.fromkeys(re.findall(r'"([^"]+)"', part))
                else:
                    found["free domain"] |= dict.fromkeys(re.findall(r'sWith\("(.+?)/?"\)', part))
            if allowed:
                found["reserved domain"] |= dict.fromkeys(re.findall(r'endsWith\("(.+?)"\)', reserved))
    return found


def numbers(upstream: Upstream, release: Release) -> Facts:
    """Return the lowest and the highest value of numbers, and the longest lists of budgets."""
    found: Facts = {}
    for kind in ("pool", "class"):
        rows = [(path, row) for path, row in _all(upstream.schema(release, kind)) if not _inside_whole(path)]
        found[kind] = {
            path: f"{row.get('minimum')} to {row.get('maximum')}"
            for path, row in rows
            if row.get("type") == "integer" and ("minimum" in row or "maximum" in row)
        }
        found[kind] |= {path: f"{row['maxItems']} items" for path, row in rows if path == "disruption.budgets"}
    return found


def chart_keys(upstream: Upstream, release: Release) -> Facts:
    """Return the keys that the templates of both charts read."""
    found: Facts = {}
    for chart in ("karpenter", "karpenter-crd"):
        named = {
            _whole(tuple(name.split(".")))
            for text in upstream.templates(release, chart)
            for name in re.findall(r"\.Values\.([A-Za-z0-9_.]+)", text)
        }
        keys = {key for key in named if not any(other != key and other[: len(key)] == key for other in named)}
        if ("settings",) in keys:
            # Up to 0.31 all settings are handed on, and the controller knows which of them it reads.
            given = upstream.tree(release, f"charts/{chart}/values.yaml")["settings"]
            read = re.findall(r'"aws\.(\w+)"', upstream.text(release, "pkg/apis/settings/settings.go"))
            keys = keys - {("settings",)} | {("settings", "aws", name) for name in read}
            keys |= {("settings", name) for name, value in given.items() if not isinstance(value, dict)}
            keys |= {("settings", "featureGates", name) for name in given.get("featureGates", ())}
        found[chart] = {".".join(key): None for key in keys}
    return found


def templates(upstream: Upstream, release: Release) -> Facts:
    """Return the values that the charts hand to `tpl`: by name, or as what the block around the call is about."""
    found: Facts = {}
    for chart in ("karpenter", "karpenter-crd"):
        for text in upstream.templates(release, chart):
            about = ""
            for block, call in re.findall(
                r"\{\{-?\s*(?:(?:with|range)\s+\.Values\.([\w.]+)|[^}]*?\btpl\s+([^}]+))", text
            ):
                about = block or about
                if call:
                    named = re.search(r"\.Values\.([\w.]+)", call)
                    found.setdefault(chart, {})[named[1] if named else about] = None
    return found


LISTS = {
    "templates": templates,
    "fields": fields,
    "values": values,
    "required": required,
    "reserved_tags": reserved_tags,
    "labels": labels,
    "numbers": numbers,
    "chart_keys": chart_keys,
}


def type_of(schema: Schema) -> str:
    """Name the type of a field in a few words."""
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    if schema.get("type") == "array":
        return f"list of {type_of(schema['items'])}"
    if "additionalProperties" in schema:
        return f"map of {type_of(schema['additionalProperties'])}"
    return str(schema["type"])


def _leaves(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    items = schema.get("items", {})
    if path in WHOLE_FIELDS or not (schema.get("properties") or items.get("properties")):
        yield path, schema
    elif items:
        yield from _leaves(items, f"{path}[]")
    else:
        for name, below in schema["properties"].items():
            yield from _leaves(below, f"{path}.{name}".removeprefix("."))


def _all(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    yield path, schema
    if "items" in schema:
        yield from _all(schema["items"], f"{path}[]")
    for name, below in schema.get("properties", {}).items():
        yield from _all(below, f"{path}.{name}".removeprefix("."))


def _rules(schema: Schema) -> list[str]:
    return [row["rule"].strip() for row in schema.get("x-kubernetes-validations", ())]


def _inside_whole(path: str) -> bool:
    return any(path.startswith((f"{whole}.", f"{whole}[")) for whole in WHOLE_FIELDS)


def _whole(key: tuple[str, ...]) -> tuple[str, ...]:
    return next((whole for whole in WHOLE_KEYS if key[: len(whole)] == whole), key)


def spans(releases: Iterable[Release]) -> list[str]:
    """Write releases as spans, such as `0.32.0 to 0.37.8` and `1.0.0 and later`."""
    found: list[list[Release]] = []
    position = {release: index for index, release in enumerate(RELEASES)}
    for release in releases:
        if found and position[release] == position[found[-1][1]] + 1:
            found[-1][1] = release
        else:
            found.append([release, release])
    return [f"{first} and later" if last == RELEASES[-1] else f"{first} to {last}" for first, last in found]


def holds_for(written: Iterable[str], release: Release) -> bool:
    """Tell whether a release lies in one of the spans."""
    for span in written:
        first, _, last = span.removesuffix(" and later").partition(" to ")
        if Release.parse(first) <= release and (not last or release <= Release.parse(last)):
            return True
    return False


def read_all(upstream: Upstream, name: str) -> dict[str, Any]:
    """Read one list from upstream, over all releases: section -> name -> its spans, by what is known of it."""
    found: dict[str, dict[str, dict[str | None, list[Release]]]] = {}
    for release in RELEASES:
        for section, rows in LISTS[name](upstream, release).items():
            for row, detail in rows.items():
                found.setdefault(section, {}).setdefault(row, {}).setdefault(detail, []).append(release)
    return {
        section: {
            row: spans(details[None]) if None in details else {str(key): spans(at) for key, at in details.items()}
            for row, details in rows.items()
        }
        for section, rows in found.items()
    }


@cache
def accepted(name: str) -> dict[str, Any]:
    """Return a reviewed list."""
    found: dict[str, Any] = json.loads((ACCEPTED / f"{name}.json").read_text(encoding="utf-8"))
    return found


def accepted_in(name: str, section: str, release: Release) -> dict[str, str | None]:
    """Return what a reviewed list has for one release: each name, with what is known of it."""
    found: dict[str, str | None] = {}
    for row, written in accepted(name).get(section, {}).items():
        if isinstance(written, list):
            found |= {row: None} if holds_for(written, release) else {}
        else:
            found.update((row, detail) for detail, at in written.items() if holds_for(at, release))
    return found


def write_lists() -> None:
    """Write the lists in accepted/ from upstream; what differs is for a person to review."""
    upstream = Upstream(os.environ[VARIABLE])
    for name in LISTS:
        (ACCEPTED / f"{name}.json").write_text(f"{readable(read_all(upstream, name))}\n", encoding="utf-8")


if __name__ == "__main__":
    write_lists()
