"""The help of every verb: each option says what it does, and what it takes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from nodeless.cli.main import VERBS, parser
from nodeless.cli.options import DEFAULT_CONFIGS

(VERB_PARSERS,) = (action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse offers no public way to list options
WORDS = {"FILE", "DIR", "VERSION", "CLUSTER", "CLUSTER | FROM TO", "PROFILE", "REGION", "SHELL"}


def options_of(verb: str) -> list[argparse.Action]:
    found: list[argparse.Action] = VERB_PARSERS[verb]._actions  # noqa: SLF001 - the same
    return found


def test_there_is_help_for_every_verb() -> None:
    assert len(VERB_PARSERS) == len(VERBS)


@pytest.mark.parametrize("verb", VERB_PARSERS)
def test_each_option_says_what_it_does_and_what_it_takes(verb: str) -> None:
    for action in options_of(verb):
        assert action.help, action.option_strings
        if action.nargs != 0 and not action.choices:
            assert action.metavar in WORDS, (action.option_strings, action.metavar)


@pytest.mark.parametrize("verb", VERB_PARSERS)
def test_a_verb_that_reads_a_file_reads_clusters_yaml_unless_told(verb: str) -> None:
    for action in options_of(verb):
        if "--config" in action.option_strings:
            default = action.default if verb == "init" else action.default[0]
            assert (str(default), action.metavar) == ("clusters.yaml", "FILE")
            assert str(default) in str(action.help)


READING = sorted({*VERB_PARSERS} & {"synth", "check", "explain", "report", "export", "upgrade", "doctor", "adopt"})


@pytest.mark.parametrize("verb", READING)
def test_a_file_that_is_named_takes_the_place_of_the_default_and_more_are_added(verb: str) -> None:
    parsed = argparse.Namespace(config=DEFAULT_CONFIGS)
    (option,) = (each for each in options_of(verb) if "--config" in each.option_strings)
    for name in ("one.yaml", "two.yaml"):
        option(parser(), parsed, Path(name), "--config")

    assert parsed.config == [Path("one.yaml"), Path("two.yaml")]
    assert DEFAULT_CONFIGS == (Path("clusters.yaml"),)
