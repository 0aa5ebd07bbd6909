"""docs/security.md names what is there: tests, variables, exit codes."""

from __future__ import annotations

import re

from nodeless.cli import statuses
from nodeless.cli.surroundings import AWS, KEPT, OF_AN_ACCOUNT, OWN
from tests.docs.markdown import ROOT, text_of

TEXT = text_of(ROOT / "docs/security.md")


def section(title: str) -> str:
    """Return the text of a section."""
    _, _, rest = TEXT.partition(f"\n## {title}\n")
    assert rest, f"docs/security.md has no section {title}"
    return rest.partition("\n## ")[0]


def test_every_file_it_names_exists() -> None:
    named = set(re.findall(r"`((?:tests|tools|nodeless)/[\w./]+)`", TEXT))

    assert len(named) >= 8
    assert [file for file in named if not (ROOT / file).exists()] == []


def test_every_variable_it_describes_is_kept() -> None:
    described = re.findall(r"^\| `(\w+)` \|", section("Environment variables"), re.MULTILINE)

    assert "JSII_NODE" in described
    assert [name for name in described if name not in KEPT and not name.startswith(OWN)] == []


def test_no_variable_that_it_says_has_no_effect_is_kept() -> None:
    (sentence,) = re.findall(r"So (`NODE_OPTIONS`.*?) have no effect", TEXT)

    assert not {*re.findall(r"`(\w+)`", sentence)} & {*KEPT}


def test_the_variables_of_an_account_are_those_that_the_verbs_get_back() -> None:
    (sentence,) = re.findall(r"also keep the variables that begin with\n(`AWS_`.*?)\.", TEXT)

    assert re.findall(r"`(\w+)`", sentence) == [AWS, *OF_AN_ACCOUNT]
    assert not {*OF_AN_ACCOUNT} & {*KEPT}


def test_the_exit_codes_are_those_of_the_command() -> None:
    shown = re.findall(r"^\| (\d+(?:, \d+)*) \|", section("Exit codes"), re.MULTILINE)
    codes = [int(code) for row in shown for code in row.split(", ")]

    signals = [statuses.SIGNALLED + number for number in (2, 15, 1)]
    assert codes == [
        statuses.DONE,
        statuses.DIFFERS,
        statuses.REFUSED,
        statuses.UNFORESEEN,
        *signals,
        statuses.CLOSED_PIPE,
    ]
