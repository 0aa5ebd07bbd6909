"""Signals wait while a step must be whole."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from nodeless.output.signals import STOPPING, held_back


@pytest.fixture(autouse=True)
def _signals_end_the_test() -> Iterator[None]:
    before = {each: signal.signal(each, signal.default_int_handler) for each in STOPPING}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize("number", STOPPING, ids=lambda number: number.name)
def test_a_signal_waits_until_the_block_is_done(number: signal.Signals) -> None:
    steps = []

    def step() -> None:
        with held_back():
            signal.raise_signal(number)
            steps.append("after the signal")

    with pytest.raises(KeyboardInterrupt):
        step()
    assert steps == ["after the signal"]


def test_signals_do_after_the_block_what_they_did_before() -> None:
    before = [signal.getsignal(each) for each in STOPPING]

    with held_back():
        assert signal.default_int_handler not in [signal.getsignal(each) for each in STOPPING]

    assert [signal.getsignal(each) for each in STOPPING] == before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with held_back():
        signal.raise_signal(signal.SIGHUP)

    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
