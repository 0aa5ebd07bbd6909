"""What the Terraform tests share: the tools, a stand-in for AWS, synthesized stacks, and the lines at the end."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.cdktf_command import REASONS_TO_SKIP
from tests.scanners.readings import NOT_INSTALLED
from tests.terraform import aws_server, cdktf_cli, controller_steps, provider_settings, tools, whole_life as story
from tests.terraform.cdktf_cli import Cdktf, LifeByCdktf
from tests.terraform.controller_steps import ControllerLife
from tests.terraform.deployer_life import Deployed, deploy
from tests.terraform.examined_life import examine_life
from tests.terraform.existing_resources import Existing, meet_existing
from tests.terraform.lives import CHANGES, ELSEWHERE, ON_FARGATE, Life, live
from tests.terraform.project import Project
from tests.terraform.provider_settings import NOWHERE
from tests.terraform.runner import Tally, Terraform, environment_for
from tests.terraform.synthesis import stack_folder
from tests.terraform.whole_life import WholeLife

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from tests.live.breakage import Breakage
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.tools import Tools

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


def literals(region: str = "eu-north-1", dns_suffix: str = "amazonaws.com", delivery: str = "none") -> str:
    """Write the keys that would otherwise be looked up: with all of them given, a plan asks AWS for nothing."""
    return f"""\
    account: "123456789012"
    endpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.{region}.eks.{dns_suffix}
    oidc_issuer: https://oidc.eks.{region}.{dns_suffix}/id/0123456789ABCDEF0123456789ABCDEF
    certificate_authority: LS0tLS1CRUdJTi0=
    subnets: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]
    delivery: {delivery}
"""


LITERAL_CONFIG = f"clusters:\n  - name: demo\n    region: eu-north-1\n{literals()}"

# The fixtures whose stacks are applied in the background, the shortest story first.
LONG_STORIES = (
    "existing",
    "examined",
    "life_elsewhere",
    "life",
    "deployed",
    "controllers",
    "whole_life",
    "life_by_cdktf",
)

# What plays AWS in a story that needs more than the others.
SERVERS = {"examined": "tests.live.serve_aws"}

TALLY = pytest.StashKey[Tally]()
SKIPPED = pytest.StashKey[dict[str, str]]()


class Synth(Protocol):
    """Synthesizes a clusters.yaml and returns the folder of the stack."""

    def __call__(self, config: str, *, cluster: str = ...) -> Path:
        """Take the text of the file and the cluster whose stack is wanted."""


class StackOf(Protocol):
    """Synthesizes a clusters.yaml and returns a Terraform in the folder of the stack, its provider set for tests."""

    def __call__(self, config: str, *, cluster: str = ..., endpoint: str = ...) -> Terraform:
        """Take the text of the file, the cluster whose stack is wanted and where its AWS is."""


class TerraformIn(Protocol):
    """Returns a Terraform in a folder."""

    def __call__(self, stack: Path) -> Terraform:
        """Take a folder with a configuration."""


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Tally:
    return pytestconfig.stash[TALLY]


@pytest.fixture(scope="session")
def terraform_tools() -> Tools:
    try:
        return tools.find(os.environ, Path.home())
    except tools.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of everything a run leaves behind."""
    return tmp_path_factory.mktemp("terraform")


@pytest.fixture(scope="session")
def aws(scratch: Path) -> Iterator[AwsServer]:
    with aws_server.running(scratch / "aws.log") as server:
        yield server


@pytest.fixture(scope="session")
def synth(scratch: Path) -> Synth:
    def synthesize(config: str, *, cluster: str = "demo") -> Path:
        return stack_folder(config, scratch=scratch, cluster=cluster)

    return synthesize


@pytest.fixture(scope="session")
def terraform_environment(terraform_tools: Tools, scratch: Path, tally: Tally) -> dict[str, str]:
    tally.tools = str(terraform_tools)
    cache, config = scratch / "plugin-cache", scratch / "terraform.rc"
    cache.mkdir()
    config.write_text(terraform_tools.cli_config(cache), "utf-8")
    return environment_for(config)


@pytest.fixture(scope="session")
def terraform_in(terraform_tools: Tools, terraform_environment: dict[str, str], tally: Tally) -> TerraformIn:
    def terraform(stack: Path) -> Terraform:
        return Terraform(terraform_tools, stack, environment=terraform_environment, tally=tally)

    return terraform


@pytest.fixture(scope="session")
def stack_of(synth: Synth, terraform_in: TerraformIn) -> StackOf:
    def stack(config: str, *, cluster: str = "demo", endpoint: str = NOWHERE) -> Terraform:
        folder = synth(config, cluster=cluster)
        provider_settings.write(folder, endpoint)
        return terraform_in(folder)

    return stack


@pytest.fixture(scope="session")
def initialized(stack_of: StackOf) -> Terraform:
    """Return a folder that has its providers: others copy them, since Terraform's cache takes one init at a time."""
    terraform = stack_of(LITERAL_CONFIG)
    terraform.init()
    return terraform


@pytest.fixture(scope="session")
def cdktf(terraform_tools: Tools, terraform_environment: dict[str, str], scratch: Path, tally: Tally) -> Cdktf:
    folder = scratch / "cdktf-project"
    folder.mkdir()
    environment = {**terraform_environment, "TERRAFORM_BINARY_NAME": str(terraform_tools.terraform)}
    return Cdktf(folder, environment, tally)


@pytest.fixture(scope="session")
def lives(
    request: pytest.FixtureRequest,
    scratch: Path,
    stack_of: StackOf,
    initialized: Terraform,
    cdktf: Cdktf,
) -> Iterator[dict[str, Future[Any]]]:
    """Start what takes long and mostly waits, if a test of this run asks for it, and go on with the other tests."""
    stories: dict[str, Callable[[AwsServer], Any]] = {
        "life": lambda aws: live(
            aws, stack_of, initialized, ON_FARGATE, {name: keys for name, (keys, _) in CHANGES.items()}
        ),
        "life_elsewhere": lambda aws: live(aws, stack_of, initialized, ELSEWHERE),
        "controllers": lambda aws: controller_steps.live(aws, initialized, scratch),
        "deployed": lambda aws: deploy(aws, stack_of, initialized),
        "existing": lambda aws: meet_existing(aws, stack_of, initialized),
        "examined": lambda aws: examine_life(aws, stack_of, initialized),
        "whole_life": lambda aws: story.live(
            aws, Project(Path(mkdtemp(dir=scratch, prefix="project-")), initialized, aws.url)
        ),
    }
    if not any(REASONS_TO_SKIP.values()):
        stories["life_by_cdktf"] = lambda aws: cdktf_cli.live(aws, initialized, cdktf)
    wanted = {name for item in request.session.items for name in getattr(item, "fixturenames", ()) if name in stories}
    with ExitStack() as servers, ThreadPoolExecutor() as threads:
        yield {
            name: threads.submit(
                stories[name],
                servers.enter_context(
                    aws_server.running(scratch / f"{name}.log", SERVERS.get(name, aws_server.SERVER))
                ),
            )
            for name in sorted(wanted)
        }


@pytest.fixture(scope="session")
def life(lives: dict[str, Future[Life]]) -> Life:
    return lives["life"].result()


@pytest.fixture(scope="session")
def life_elsewhere(lives: dict[str, Future[Life]]) -> Life:
    return lives["life_elsewhere"].result()


@pytest.fixture(scope="session")
def controllers(lives: dict[str, Future[ControllerLife]]) -> ControllerLife:
    return lives["controllers"].result()


@pytest.fixture(scope="session")
def whole_life(lives: dict[str, Future[WholeLife]]) -> WholeLife:
    return lives["whole_life"].result()


@pytest.fixture(scope="session")
def existing(lives: dict[str, Future[Existing]]) -> Existing:
    return lives["existing"].result()


@pytest.fixture(scope="session")
def examined(lives: dict[str, Future[Breakage]]) -> Breakage:
    return lives["examined"].result()


@pytest.fixture(scope="session")
def deployed(lives: dict[str, Future[Deployed]]) -> Deployed:
    return lives["deployed"].result()


@pytest.fixture(scope="session")
def life_by_cdktf(lives: dict[str, Future[LifeByCdktf]]) -> LifeByCdktf:
    return lives["life_by_cdktf"].result()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Tally()
    config.stash[SKIPPED] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests that look at an applied stack come last, which saves time: by then most of its story has run."""

    def turn(item: pytest.Item) -> int:
        names = getattr(item, "fixturenames", ())
        return next((number for number, name in enumerate(LONG_STORIES, start=1) if name in names), 0)

    items.sort(key=turn)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.path.is_relative_to(HERE):
        # Of a skipped test this is (file, line, reason).
        *_, reason = report.longrepr if isinstance(report.longrepr, tuple) else (str(report.longrepr),)
        item.config.stash[SKIPPED][item.nodeid] = reason.removeprefix("Skipped: ")
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in CI that skipped tests although their tools are there."""
    if counted(session.config.stash[SKIPPED]) and skipping_is_a_failure():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def counted(skipped: dict[str, str]) -> set[str]:
    """Return the reasons that count in CI: all but those for what `make test` does not install."""
    return set(skipped.values()) - {*REASONS_TO_SKIP, tools.WITHOUT_HELM, NOT_INSTALLED}


def skipping_is_a_failure() -> bool:
    """Tell whether this is CI, and the machine has Terraform and a mirror, or was said to have them."""
    if os.environ.get("CI", "").lower() not in {"1", "true"}:
        return False
    try:
        return tools.find(os.environ, Path.home()).mirror is not None
    except tools.Unavailable:
        return not {tools.TERRAFORM_VARIABLE, tools.MIRROR_VARIABLE}.isdisjoint(os.environ)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what real Terraform did in this run, or why it did nothing."""
    done, skipped = config.stash[TALLY], config.stash[SKIPPED]
    if not done.commands and not skipped:
        return
    terminalreporter.section("terraform")
    if done.commands:
        resources = ", ".join(f"{done.resources[what]} {what}" for what in ("applied", "planned again", "destroyed"))
        terminalreporter.line(done.tools)
        terminalreporter.line(f"resources: {resources}")
        runs = ", ".join(f"{name} {count} ({done.seconds[name]:.0f} s)" for name, count in done.commands.items())
        terminalreporter.line(f"commands: {runs}")
    for reason in sorted(set(skipped.values())):
        terminalreporter.line(f"skipped {list(skipped.values()).count(reason)}: {reason}", yellow=True)
    if counted(skipped) and skipping_is_a_failure():
        terminalreporter.line("this is CI and the tools are there: tests that are skipped count as failed", red=True)
