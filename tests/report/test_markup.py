"""A text stays a text: in an element, in an attribute, in SVG."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from nodeless.report.markup import Markup, breakable, element, escaped, joined, lines
from nodeless.sinks.terminal import printable_lines
from tests.sinks.nasty import TEXT

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</script></style></title>",
    "]]><svg onload=alert(1)>",
    "<!-- -->",
    "&lt;b&gt;",
    "javascript:alert(1)",
)
INVISIBLE = {"\u202eabc": "\\u202eabc", "a\u2028b": "a\\u2028b", "\x1b[31m": "\\x1b[31m", "a\x00b": "a\\x00b"}


class Reader(HTMLParser):
    """Reads markup back as a browser would: tags, attributes and text."""

    def __init__(self, markup: Markup) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(markup.text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_arrives_as_text(text: str) -> None:
    read = Reader(element("td", text, title=text))

    assert (read.tags, read.attributes, read.text) == (["td"], [("title", text)], text)


@settings(deadline=None, derandomize=True)
@given(TEXT)
def test_any_text_arrives_as_text(text: str) -> None:
    shown = printable_lines(text)
    read = Reader(element("text", text, data_label=text))

    assert (read.tags, read.attributes, read.text) == (["text"], [("data-label", shown)], shown)


@settings(deadline=None, derandomize=True)
@given(TEXT)
def test_a_name_that_may_be_broken_into_lines_is_the_same_text(text: str) -> None:
    read = Reader(breakable(text))

    assert read.text == printable_lines(text)
    assert set(read.tags) <= {"wbr"}


@pytest.mark.parametrize("text", INVISIBLE)
def test_what_cannot_be_seen_or_turns_text_around_is_shown_as_an_escape(text: str) -> None:
    assert escaped(text) == INVISIBLE[text]


def test_a_break_is_between_the_parts_of_a_name() -> None:
    assert breakable("aws_iam_role.nodeRole").text == "aws_<wbr>iam_<wbr>role.<wbr>node<wbr>Role"


def test_attributes_can_be_left_out_or_be_there_without_a_value() -> None:
    assert element("input", hidden=True, class_=None, disabled=False, for_="x").text == '<input hidden for="x">'


def test_parts_are_joined_and_only_markup_is_not_escaped() -> None:
    assert joined(["<", Markup("<br>"), None, 1], " & ").text == "&lt; &amp; <br> &amp; 1"
    assert lines([Markup("a"), Markup(""), Markup("b")]).text == "a\nb"
