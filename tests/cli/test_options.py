"""The help of every verb: each option says what it does, and what it takes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from nodeless.cli.main import VERBS, parser
from nodeless.cli.options import add_config

(VERB_PARSERS,) = (action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse offers no public way to list options
WORDS = {"FILE", "DIR", "VERSION", "CLUSTER", "CLUSTER | FROM TO", "PROFILE", "REGION", "SHELL", "N"}


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


def test_files_that_are_named_take_the_place_of_the_default() -> None:
    options = argparse.ArgumentParser()
    add_config(options)

    assert options.parse_args([]).config == (Path("clusters.yaml"),)
    named = options.parse_args(["--config", "one.yaml", "--config=two.yaml"]).config
    assert named == [Path("one.yaml"), Path("two.yaml")]
    assert options.parse_args([]).config == (Path("clusters.yaml"),)
