"""What the lab's tests share: the tools, and stories that run once, each in a lab of its own, two at a time."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab import adoption, deliveries, interruptions, karpenter_life, lab, opentofu, upgrades, variants
from tests.lab.adoption import AdoptedLife
from tests.lab.deliveries import ScriptedLife
from tests.lab.interruptions import GivenUp, Interrupted, Killed
from tests.lab.karpenter_life import KarpenterLife
from tests.lab.opentofu import OpenTofuLife
from tests.lab.upgrades import UpgradedLife
from tests.lab.variants import VARIANTS, LivedVariant
from tests.terraform import tools
from tests.terraform.runner import Tally
from tools.lab import store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.lab.lab import Lab
    from tests.terraform.tools import Tools

    Story = Callable[["Start"], Any]
    Start = Callable[..., AbstractContextManager[Lab]]

# What every story needs; the controllers' binaries are looked for by the stories that run them.
TOOLS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "registry", "terraform-provider-helm")

# By the name of the fixture that returns what the story saw; the longest first.
STORIES: dict[str, Story] = {
    "scripted_life": deliveries.live,
    "beta_life": lambda start: upgrades.live(start, "0.37.8", "1.0.8", "1.14.1", kubernetes="1.30"),
    "newest_life": lambda start: karpenter_life.live(start, "1.14.1", settings={"zonal_shift": True}),
    "older_life": lambda start: karpenter_life.live(start, "1.0.8", kubernetes="1.31"),
    "opentofu_life": opentofu.live,
    "adopted_life": adoption.live,
    "killed": interruptions.killed,
    "interrupted": interruptions.interrupted,
    "given_up": interruptions.given_up,
    **{name: partial(variants.live, name=name) for name in VARIANTS},
}
AT_ONCE = 2

TALLY = pytest.StashKey[Tally]()


@pytest.fixture(scope="session")
def lab_tools() -> Tools:
    """Return Terraform and its providers, or skip: these tests need what `make lab` builds."""
    try:
        for name in TOOLS:
            store.find(name)
        return tools.find(os.environ, Path.home())
    except (store.NotBuilt, tools.Unavailable) as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Tally:
    return pytestconfig.stash[TALLY]


@pytest.fixture(scope="session")
def stories(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, lab_tools: Tools
) -> Iterator[dict[str, Future[Any]]]:
    """Start every story that a test of this run asks for."""
    tally = request.config.stash[TALLY]
    tally.tools = str(lab_tools)
    wanted = {name for item in request.session.items for name in _names_in(item) if name in STORIES}

    def start(name: str) -> Start:
        folder = tmp_path_factory.mktemp(name)
        return lambda **settings: lab.running(folder, tools=lab_tools, tally=tally, **settings)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield {name: threads.submit(story, start(name)) for name, story in STORIES.items() if name in wanted}


def _names_in(item: pytest.Item) -> set[object]:
    """Return the fixtures that a test names, also as a parameter."""
    parameters = (
        item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    )
    return {*getattr(item, "fixturenames", ()), *(each for each in parameters if isinstance(each, str))}


def seen(stories: dict[str, Future[Any]], name: str) -> Any:  # noqa: ANN401 - each story returns its own record
    """Return what a story saw; one that needs what cannot be had here is skipped."""
    try:
        return stories[name].result()
    except (store.NotBuilt, tools.Unavailable) as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def newest_life(stories: dict[str, Future[Any]]) -> KarpenterLife:
    found: KarpenterLife = seen(stories, "newest_life")
    return found


@pytest.fixture(scope="session")
def older_life(stories: dict[str, Future[Any]]) -> KarpenterLife:
    found: KarpenterLife = seen(stories, "older_life")
    return found


@pytest.fixture(scope="session")
def killed(stories: dict[str, Future[Any]]) -> Killed:
    found: Killed = seen(stories, "killed")
    return found


@pytest.fixture(scope="session")
def interrupted(stories: dict[str, Future[Any]]) -> Interrupted:
    found: Interrupted = seen(stories, "interrupted")
    return found


@pytest.fixture(scope="session")
def given_up(stories: dict[str, Future[Any]]) -> GivenUp:
    found: GivenUp = seen(stories, "given_up")
    return found


@pytest.fixture(scope="session")
def scripted_life(stories: dict[str, Future[Any]]) -> ScriptedLife:
    found: ScriptedLife = seen(stories, "scripted_life")
    return found


@pytest.fixture(scope="session")
def beta_life(stories: dict[str, Future[Any]]) -> UpgradedLife:
    found: UpgradedLife = seen(stories, "beta_life")
    return found


@pytest.fixture(scope="session")
def opentofu_life(stories: dict[str, Future[Any]]) -> OpenTofuLife:
    found: OpenTofuLife = seen(stories, "opentofu_life")
    return found


@pytest.fixture(scope="session")
def adopted_life(stories: dict[str, Future[Any]]) -> AdoptedLife:
    found: AdoptedLife = seen(stories, "adopted_life")
    return found


@pytest.fixture(params=VARIANTS)
def lived(request: pytest.FixtureRequest, stories: dict[str, Future[Any]]) -> LivedVariant:
    found: LivedVariant = seen(stories, request.param)
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Tally()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what the lab did in this run."""
    done = config.stash[TALLY]
    if done.commands:
        terminalreporter.section("lab")
        terminalreporter.line(done.tools)
        resources = ", ".join(f"{done.resources[what]} {what}" for what in ("applied", "planned again", "destroyed"))
        terminalreporter.line(f"resources: {resources}")
        for line in done.notes:
            terminalreporter.line(line)
