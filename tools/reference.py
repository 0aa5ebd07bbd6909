"""The configuration reference: every key of clusters.yaml, what it takes, its default and meaning, from the model."""

from __future__ import annotations

import argparse
import itertools
import json
import re
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import annotated_types
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from nodeless.karpenter.chart_key_rows import TEMPLATES
from nodeless.karpenter.releases import NEWEST_MINOR, RELEASES, kubernetes_range
from nodeless.resolved.names import HASH_LENGTH, KEYED_NAME_RULES, LONGEST_CLUSTER_NAME, NAME_RULES, STYLES, NameRule
from nodeless.resolved.partitions import PARTITIONS
from nodeless.spec import bounds
from nodeless.spec.guards.pools.engine import window_in_words
from nodeless.spec.model import Cluster, File
from nodeless.spec.schema import descriptions
from nodeless.spec.text_type import TextType

# An annotation, as typing hands it out.
Hint: TypeAlias = Any

HEAD = """\
# Configuration

<!-- Written by `make docs` from the model in nodeless/spec; a test compares the two. -->

Everything a `clusters.yaml` may contain. Unknown keys, duplicate keys and values of the wrong type are errors, and all
of them are reported at once. The shortest file:

```yaml
clusters:
  - name: demo
    region: eu-north-1
```

`nodeless explain` prints a file with every default filled in, says where each value comes from, and shows what follows
from all of them ([explain.md](explain.md)). `nodeless schema` prints the JSON schema of the file, for editors; it is
also in [clusters.schema.json](clusters.schema.json).
"""

DEFAULTS = """\
A key at this level that begins with `x-` is yours, and is not read: a place for anchors, as in a Compose file.

`defaults` is merged under every cluster: maps are merged key by key; lists and single values of a cluster replace those
of `defaults`.

```yaml
defaults:
  region: eu-north-1
  tags: {team: platform}
clusters:
  - name: blue
  - name: green
    tags: {stage: test}     # in addition to team: platform
```
"""

KEYS = """\
## Keys

Paths are relative to the cluster: `fargate.selectors[]` is an item of the list `selectors` in the map `fargate`.
"""

BOUNDS_TABLE = """\
## Bounds

A file that is larger than this is refused with a message, before anything is built.

{table}
"""

TEXT_TYPES = """\
## Types of text

Every value is a literal. In Helm values, in specs of pools and classes and in `extra_statements` you can write `${{…}}`
and `%{{…}}`, for instance in user data or as a policy variable: Terraform does not evaluate them, and they arrive as
written. All other texts have one of the types below that admit no `${{` and no `%{{`. In Python, where marked, you can
pass a token instead ([python.md](python.md)).

{table}

What CDKTF, jsii or Terraform would change on the way is refused: whole numbers beyond 2^53 and numbers with more digits
than a float holds (write them in quotes), letters with a separate accent (Unicode's NFC form is required), a byte order
mark at the start of a text, and the few texts, numbers and keys that CDKTF keeps for itself.
"""

TEMPLATES_TABLE = """\
## Helm values that are templates

A Helm value arrives as written, but a chart can evaluate it. Karpenter's chart hands the values below to Helm's `tpl`
function: `{{{{ … }}}}` in them is evaluated when the chart is rendered, whoever wrote it. Values that nodeless
generates have no `{{{{`.

{table}
"""

NAMES = """\
## Physical names

`names: blog` is the default, `names: official` takes the names of Karpenter's own guide, and a map overrides single
names. A cluster name that is too long for a name's limit is cut and followed by {hash_length} characters of its hash,
so that two clusters never get the same name.

A cluster of the same name in another region of the account needs other names: `names: {{with_region: true}}` puts the
region after the cluster's name in all of them, and into the name of the stack. Two accounts may have a cluster of the
same name as well: give one of the two stacks another name with `stack`.

Of policies and rules, a release has some; the limits count the whole name. A role or instance profile of `nodes.roles`
is named like the first one, with its key after it.

{table}
"""

PARTITION_TABLE = """\
## Partitions

The partition follows from the region; ARNs and service names are spelled accordingly.

{table}
"""

RELEASE_LIST = """\
## Releases

`karpenter.version` takes a release, or a minor such as `{minor}` for its newest patch. `kubernetes`, where given, is
checked against this table.

{table}
"""

KEY_COLUMNS = ("key", "takes", "default", "meaning")

PLAIN_TYPES: dict[Hint, tuple[str, ...]] = {
    bool: ("`true`", "`false`"),
    int: ("a whole number",),
    str: ("text",),
    Any: ("anything",),
    type(None): ("nothing",),
}

# The bounds pydantic keeps beside a type: their class, where it holds the number, and how a reader says it.
BOUNDS = (
    (annotated_types.Ge, "ge", "at least {}"),
    (annotated_types.Le, "le", "at most {}"),
    (annotated_types.MinLen, "min_length", "at least {}"),
    (annotated_types.MaxLen, "max_length", "at most {}"),
)


class Reference:
    """The sections of one model, and the types of text in them."""

    def __init__(self, model: type[BaseModel], title: str) -> None:
        """Find every section below the model, with its paths."""
        self.text_types: dict[str, TextType] = {}
        self._titles: dict[type[BaseModel], list[str]] = {model: [title]}
        self._variants: dict[type[BaseModel], str] = {}
        self._collect(model, ())

    def sections(self) -> str:
        """Write the section of the model, then those below it."""
        return "\n".join(
            f"### {self.heading(section)}\n\n{_prose(section.__doc__ or '')}\n\n{self.keys(section)}\n"
            for section in self._titles
        )

    def heading(self, section: type[BaseModel]) -> str:
        """Name a section by its paths, relative to the cluster."""
        return " and ".join(self._titles[section])

    def keys(self, section: type[BaseModel]) -> str:
        """Write the keys of a section as a table."""
        rows = [
            (f"`{name}`", self.takes(hint), self._default(section.model_fields[name], hint), meaning(section, name))
            for name, hint in _hints(section).items()
        ]
        return table(KEY_COLUMNS, rows)

    def takes(self, hint: Hint) -> str:
        """Say what may be written for a value of this type."""
        *most, last = dict.fromkeys(self._choices(_written(hint)))
        return f"{', '.join(most)} or {last}" if most else last

    def _choices(self, hint: Hint) -> Iterator[str]:
        origin, arguments = _origin(hint), get_args(hint)
        if origin is Annotated:
            yield self._annotated(hint)
        elif origin is Literal:
            yield from (f"`{choice}`" for choice in arguments)
        elif origin in {Union, types.UnionType}:
            for member in arguments:
                yield from () if member is type(None) else self._choices(member)
        elif origin in {list, tuple, dict}:
            yield self._container("map" if origin is dict else "list", arguments[-1 if origin is dict else 0])
        elif _is_section(hint):
            yield f"[a map{self._variants.get(hint, '')}](#{anchor(self.heading(hint))})"
        else:
            yield from PLAIN_TYPES.get(hint, (f"`{hint}`",))

    def _container(self, noun: str, item: Hint) -> str:
        if item is Any:
            return noun
        if item is str:
            return f"{noun} of text"
        if _origin(item) in {list, dict}:
            return f"{noun} of {'maps' if _origin(item) is dict else 'lists'}"
        return f"{noun}, each {self.takes(item)}"

    def _annotated(self, hint: Hint) -> str:
        text_type = _text_type(hint)
        if text_type is None:
            return ", ".join([self.takes(get_args(hint)[0]), *_bounds(hint)])
        self.text_types.setdefault(text_type.expected, text_type)
        # The first words say what it is; the table of text types says how it is written.
        what = re.split(r": | \(|, ", text_type.expected)[0]
        return f"[{what}](#types-of-text)"

    def _default(self, field: FieldInfo, hint: Hint) -> str:
        if field.is_required():
            return "required"
        value = field.get_default(call_default_factory=True)
        if not isinstance(value, BaseModel):
            return "none" if value is None else f"`{_flow(value)}`"
        if _is_section(_written(hint)):
            return "as below"
        whole = bool in get_args(_written(hint))
        return "`true`" if whole else f"`{_flow(value.model_dump(exclude_none=True))}`"

    def _collect(self, section: type[BaseModel], path: tuple[str, ...], above: str = "") -> None:
        for name, hint in _hints(section).items():
            found = list(_sections(hint))
            for step, below in found:
                if len(found) > 1:
                    self._variants[below] = _variant(below)
                where = (*path, f"{name}{step}")
                known = below in self._titles
                # What is below one of several sections with the same path is told apart like that section.
                variant = self._variants.get(below, above)
                self._titles.setdefault(below, []).append(f"`{'.'.join(where)}`{variant}")
                if not known:
                    self._collect(below, where, variant)


def _file_bounds() -> str:
    rows = (
        ("size of the file", f"{bounds.LARGEST_FILE // 1024} KiB"),
        ("clusters of all files", bounds.MOST_CLUSTERS),
        ("files", bounds.MOST_FILES),
        ("a chain of includes, from one file to the next", bounds.DEEPEST_INCLUDE),
        ("files and folders that the globs of `include` look at", bounds.MOST_SCANNED),
        ("items of a list, keys of a map", bounds.MOST_ITEMS),
        ("keys and values of a file, each use of an alias counted", bounds.MOST_VALUES),
        ("keys and values of all files, `defaults` counted in each cluster", bounds.MOST_VALUES_IN_ALL),
        ("characters of these", bounds.MOST_CHARACTERS),
        ("levels of lists and maps in each other", bounds.DEEPEST),
        ("characters of a number", bounds.LONGEST_NUMBER),
        ("problems that one run reports", bounds.MOST_FINDINGS),
    )
    return table(("what", "at most"), [(what, f"{most:,}" if isinstance(most, int) else most) for what, most in rows])


def reference() -> str:
    """Write the whole document."""
    cluster = "A cluster"
    contract = Reference(Cluster, cluster)
    sections = contract.sections()
    file = [
        ("`defaults`", "map", "`{}`", meaning(File, "defaults")),
        ("`include`", "list, each [a path or glob](fleets.md#include-other-files)", "`[]`", meaning(File, "include")),
        ("`clusters`", f"list, each [a map](#{anchor(cluster)})", "required, or `include`", meaning(File, "clusters")),
    ]
    parts = [
        HEAD,
        f"## The file\n\n{table(KEY_COLUMNS, file)}\n",
        DEFAULTS,
        KEYS,
        sections,
        BOUNDS_TABLE.format(table=_file_bounds()),
        TEXT_TYPES.format(table=_text_types(contract.text_types)),
        TEMPLATES_TABLE.format(table=_templates()),
        NAMES.format(table=_names(), hash_length=HASH_LENGTH),
        PARTITION_TABLE.format(table=_partitions()),
        RELEASE_LIST.format(minor=NEWEST_MINOR, table=_releases()),
    ]
    return "\n".join(parts)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Write a table; a pipe in a cell is escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def anchor(heading: str) -> str:
    """Write a heading the way GitHub links to it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def meaning(section: type[BaseModel], name: str) -> str:
    """Return what the model says about a key."""
    return _prose(descriptions(section).get(name, ""))


def _text_types(text_types: dict[str, TextType]) -> str:
    rows = [
        (_prose(row.expected), _prose(row.fix), "yes" if row.takes_references else "no") for row in text_types.values()
    ]
    return table(("type", "what an error suggests", "a token in Python"), rows)


def _templates() -> str:
    rows = [(f"`{name}`", window_in_words(window)) for window, name in TEMPLATES]
    return table(("key below `karpenter.values`", "releases"), rows)


def _names() -> str:
    rows = [
        (f"`{rule.key}`", *(f"`{_filled(style)}`" for style in _styles(rule)), str(rule.limit), _room(rule), rule.scope)
        for rule in (*NAME_RULES, *KEYED_NAME_RULES)
    ]
    return table(("key", *STYLES, "limit", "longest cluster name that is not cut", "unique in"), rows)


def _partitions() -> str:
    rows = [
        (f"`{row.name}`", f"`{row.example_region}`", f"`{row.dns_suffix}`", ", ".join(sorted(row.not_offered)))
        for row in PARTITIONS
    ]
    return table(("partition", "a region of it", "DNS suffix", "not offered there"), rows)


def _releases() -> str:
    rows = []
    for (first, last), group in itertools.groupby(RELEASES, kubernetes_range):
        members = list(group)
        span = str(members[0]) if len(members) == 1 else f"{members[0]} to {members[-1]}"
        rows.append((span, f"1.{first} to 1.{last}"))
    return table(("Karpenter", "Kubernetes"), rows)


def _styles(rule: NameRule) -> tuple[str, ...]:
    return tuple(map(rule.template, STYLES))


def _filled(template: str) -> str:
    return template.format(cluster="<cluster>")


def _room(rule: NameRule) -> str:
    """Count the characters that each style leaves to the cluster's name."""
    rooms = [rule.limit - len(style.format(cluster="")) for style in _styles(rule) if "{cluster}" in style]
    counts = dict.fromkeys(min(room, LONGEST_CLUSTER_NAME) for room in rooms)
    return " / ".join(map(str, counts)) or "any length"


def _hints(section: type[BaseModel]) -> dict[str, Hint]:
    """Return the annotations of a section's keys as they are written, types of text included."""
    hints = get_type_hints(section, include_extras=True)
    return {name: hints[name] for name in section.model_fields}


def _origin(hint: Hint) -> Hint:
    return get_origin(hint)


def _is_section(hint: Hint) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def _written(hint: Hint) -> Hint:
    """Return what the file may hold where the model keeps something else: `true` for a whole section."""
    notes = get_args(hint)[1:] if _origin(hint) is Annotated else ()
    written = (note.json_schema_input_type for note in notes if isinstance(note, BeforeValidator))
    return next((taken for taken in written if taken is not PydanticUndefined), hint)


def _sections(hint: Hint) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the sections inside a type, each with the step that leads to it from the key."""
    origin, arguments = _origin(hint), get_args(hint)
    if _is_section(hint):
        yield "", hint
    elif origin is Annotated:
        yield from _sections(arguments[0])
    elif origin in {list, tuple}:
        yield from ((f"[]{step}", model) for step, model in _sections(arguments[0]))
    elif origin is dict:
        yield from ((f".<name>{step}", model) for step, model in _sections(arguments[1]))
    else:
        yield from (found for member in arguments for found in _sections(member))


def _variant(section: type[BaseModel]) -> str:
    """Tell sections with the same path apart by the first key whose values are listed."""
    listed = ((name, hint) for name, hint in _hints(section).items() if _origin(hint) is Literal)
    name, hint = next(listed, ("", None))
    return f" with `{name}: {', '.join(get_args(hint))}`" if name else f" as {section.__name__}"


def _text_type(hint: Hint) -> TextType | None:
    """Return what an annotation says about its text; other types say nothing."""
    return next((note for note in get_args(hint)[1:] if isinstance(note, TextType)), None)


def _bounds(hint: Hint) -> Iterator[str]:
    for given in get_args(hint)[1:]:
        notes = given.metadata if isinstance(given, FieldInfo) else [given]
        for kind, attribute, words in BOUNDS:
            yield from (words.format(getattr(note, attribute)) for note in notes if isinstance(note, kind))


def _prose(text: str) -> str:
    """Write text on one line, with what Markdown would take for a tag escaped outside of code."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def _flow(value: Any) -> str:  # noqa: ANN401 - a default is any YAML
    """Write a value as in the file."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return value if isinstance(value, str) else json.dumps(value)


def main() -> None:
    """Write the reference to a file, whole or not at all: a redirect would empty it before the model has loaded."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.reference", description="Write the configuration reference from the model."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write, such as docs/configuration.md")
    parser.parse_args().file.write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
