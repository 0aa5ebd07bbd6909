"""The files to try: right ones over every key, broken ones, and changed copies of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from nodeless.spec.model import Cluster
from tests.fuzz import resources
from tests.fuzz.hostile import SCRAPS, TEXTS, file_of
from tests.fuzz.mistakes import changed, confused_keys, confused_specs
from tests.fuzz.model_values import around, section

resources.register()

ROOT = Path(__file__).parents[2]
EXAMPLES = tuple(
    file.read_text("utf-8") for file in (ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml")))
)


@dataclass(frozen=True)
class Case:
    """One file to try, or the keys of one call from Python."""

    kind: str
    text: str | bytes = ""
    keys: Any = None


@st.composite
def right_clusters(draw: st.DrawFn) -> dict[str, Any]:
    """Return a file that may well be accepted: one to three clusters, with defaults or without."""
    rows = []
    for number in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        row = draw(section(Cluster, draw(around())))
        # The default class names roles of this cluster.
        if "node_classes" in row or draw(st.booleans()):
            row["name"] = "demo" if number == 0 else f"demo{number}"
        rows.append({name: value for name, value in row.items() if name != "adopt" or value == "none"})
    tree: dict[str, Any] = {"clusters": rows}
    if draw(st.booleans()):
        key = draw(st.sampled_from(sorted(rows[0])))
        if key != "name":
            tree = {"defaults": {key: rows[0].pop(key)}, **tree}
    return tree


TOKENS = (*(str(scrap) for scrap in SCRAPS if len(scrap) < 100), "\n", "\n\n", "  ", ": ", "- ", "\t", "\r", "#")


@st.composite
def changed_text(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Return a text that somebody edited without care."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 5, 20])))
        scrap = draw(st.sampled_from(TOKENS) | st.sampled_from(TEXTS) | st.text(max_size=3))
        lines = text.splitlines(keepends=True)
        way = draw(st.sampled_from(["cut", "put", "double", "indent", "swap"]))
        line = draw(st.integers(0, max(0, len(lines) - 1)))
        if way == "cut":
            text = text[:start] + text[end:]
        elif way == "put":
            text = text[:start] + scrap + text[end:]
        elif way == "double":
            text = text[:end] + text[start:]
        elif lines:
            other = draw(st.integers(0, len(lines) - 1))
            if way == "indent":
                lines[line] = draw(st.sampled_from([" ", "  ", "\t", "- "])) + lines[line]
            else:
                lines[line], lines[other] = lines[other], lines[line]
            text = "".join(lines)
    return text


@st.composite
def changed_bytes(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """Return a file that is not even text."""
    data = bytearray(draw(texts).encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=3))
    return bytes(data)


RIGHT = right_clusters()
RIGHT_TEXTS = RIGHT.map(file_of)
EXAMPLE_TEXTS = st.sampled_from(EXAMPLES)


def _python_keys() -> st.SearchStrategy[Any]:
    one = RIGHT.map(lambda tree: {**tree.get("defaults", {}), **tree["clusters"][0]})
    return one | changed(one, in_text=False).filter(lambda keys: isinstance(keys, dict))


CASES: dict[str, st.SearchStrategy[Case]] = {
    "right": RIGHT_TEXTS.map(lambda text: Case("right", text)),
    "broken": changed(RIGHT).map(lambda tree: Case("broken", file_of(tree))),
    "one key": confused_keys().map(lambda tree: Case("one key", file_of(tree))),
    "one field": confused_specs().map(lambda tree: Case("one field", file_of(tree))),
    "edited": changed_text(EXAMPLE_TEXTS | RIGHT_TEXTS).map(lambda text: Case("edited", text)),
    "bytes": changed_bytes(EXAMPLE_TEXTS).map(lambda data: Case("bytes", data)),
    "python": _python_keys().map(lambda keys: Case("python", keys=keys)),
}
# How often each kind is tried.
SHARES = (
    *["right"] * 5,
    *["broken"] * 3,
    *["one key"] * 3,
    *["one field"] * 3,
    *["edited"] * 2,
    "bytes",
    *["python"] * 2,
)
ANY_CASE = st.sampled_from(SHARES).flatmap(lambda kind: CASES[kind])
