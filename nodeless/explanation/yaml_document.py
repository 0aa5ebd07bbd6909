"""Settings as a clusters.yaml: every key with its value, and as a comment where that comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nodeless.explanation.settings import Setting
from nodeless.explanation.yaml_lines import INDENT, block, flow, scalar
from nodeless.sinks.terminal import printable

CLUSTERS = "clusters:"
# Where comments begin on a wide screen; on a narrow one, in its middle.
COMMENT_COLUMN = 40


def yaml_document(clusters: Iterable[Iterable[Setting]], width: int) -> Iterator[str]:
    """Write all clusters; read back as a file, they mean the same."""
    yield CLUSTERS
    for settings in clusters:
        mark = "- "
        for line in _cluster(settings, width):
            is_comment = line.lstrip().startswith("#")
            yield f"{INDENT}{INDENT if is_comment else mark}{line}"
            mark = mark if is_comment else INDENT


def _cluster(settings: Iterable[Setting], width: int) -> Iterator[str]:
    room = width - 2 * len(INDENT)
    sections: tuple[str | int, ...] = ()
    for setting in settings:
        *above, key = setting.path
        for depth, section in enumerate(above):
            if tuple(above[: depth + 1]) != sections[: depth + 1]:
                yield f"{INDENT * depth}{scalar(section)}:"
        sections = tuple(above)
        yield from _lines(setting, f"{INDENT * len(above)}{scalar(key)}:", room)


def _lines(setting: Setting, start: str, room: int) -> Iterator[str]:
    indent = start[: len(start) - len(start.lstrip())]
    comment = f"# {_comment(setting)}"
    line = flow(setting.value)
    is_block = line is None or (isinstance(setting.value, list) and len(start) + len(line) >= room and line != "[]")
    text = start if is_block else f"{start} {line}"
    beside = f"{text.ljust(min(COMMENT_COLUMN, room // 2))}  {comment}"
    if len(beside) <= room:
        yield beside
    else:
        yield f"{indent}{comment}"
        yield text
    if is_block:
        yield from block(setting.value, f"{indent}{INDENT}", room)


def _comment(setting: Setting) -> str:
    hidden = "; a part that may be secret is not shown" if setting.is_hidden else ""
    return printable(f"{setting.source}{f': {setting.in_force}' if setting.in_force else ''}{hidden}")
