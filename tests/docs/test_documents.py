"""In every document, links work, cluster files load and commands exist."""

from __future__ import annotations

import re
import shlex
from itertools import dropwhile, takewhile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from nodeless.cli.main import main as nodeless, parser as nodeless_parser
from nodeless.cli.refusals import NOTHING_WRITTEN
from nodeless.finding import SpecError
from nodeless.sinks.terminal import Screen
from nodeless.spec.resolution import load
from tests.docs.markdown import (
    DOCUMENTS,
    HEADING,
    IMAGE,
    LINK,
    ROOT,
    Block,
    blocks,
    name,
    text_of,
    without_code,
)
from tools.reference import anchor

CLUSTER_FILES = [block for block in blocks("yaml") if re.search(r"^clusters:", block.text, re.MULTILINE)]
LINKS = [
    (document, found["target"])
    for document in DOCUMENTS
    for found in LINK.finditer(re.sub(r"^```.*?^```$", "", text_of(document), flags=re.MULTILINE | re.DOTALL))
]
# Commands that a shell block may use, in addition to the project's own.
OTHER_TOOLS = {
    *(".", "aws", "cd", "eksctl", "git", "helm", "jq", "kubectl", "npm", "pip", "pipx", "pre-commit", "python3"),
    *("checkov", "export", "terraform", "uv"),
}
# What follows is not an argument of the command.
OPERATORS = {">", "|", "<"}
OWN_TOOLS = {"make", "nodeless", "python", ".venv/bin/python", ".cdktf-cli/node_modules/.bin/cdktf"}
# The same as nodeless and python.
IN_CDKTN = {".cdktn/bin/nodeless": "nodeless", ".cdktn/bin/python": "python"}
VARIABLE = re.compile(r"NODELESS_\w+=\w+")


def commands() -> list[tuple[Block, list[str]]]:
    """Return every command of every shell block, split into words as the shell does, without its variables."""
    return [
        (block, [IN_CDKTN.get(word, word) for word in takewhile(lambda word: word not in OPERATORS, words)])
        for block in blocks("sh")
        for line in block.text.replace("\\\n", " ").splitlines()
        if (words := list(dropwhile(VARIABLE.fullmatch, shlex.split(line, comments=True))))
    ]


def own(tool: str) -> list[tuple[Block, list[str]]]:
    return [(block, words[1:]) for block, words in commands() if words[0] == tool]


def python_commands() -> list[tuple[Block, list[str]]]:
    return own("python") + own(".venv/bin/python")


def nodeless_commands() -> list[tuple[Block, list[str]]]:
    as_module = [(block, words[2:]) for block, words in python_commands() if words[:2] == ["-m", "nodeless"]]
    return own("nodeless") + as_module


def test_the_documents_are_found() -> None:
    assert {"README.md", "docs/README.md", "docs/configuration.md", "docs/from-zero.md"} <= set(map(name, DOCUMENTS))
    assert len(CLUSTER_FILES) >= 6
    assert len(LINKS) >= 30
    assert len(nodeless_commands()) >= 4


@pytest.mark.parametrize(("document", "target"), LINKS, ids=[f"{name(file)}-{target}" for file, target in LINKS])
def test_every_link_into_the_project_has_a_target(document: Path, target: str) -> None:
    url = urlsplit(target)
    if url.scheme:
        assert url.scheme == "https"
        return
    file = (document.parent / url.path).resolve() if url.path else document

    assert file.exists(), f"{name(document)} links to {target}"
    if url.fragment:
        assert url.fragment in {anchor(heading) for heading in HEADING.findall(text_of(file))}


def test_every_picture_is_shown_and_every_shown_picture_exists() -> None:
    shown = {
        (document.parent / found["target"]).resolve()
        for document in DOCUMENTS
        for found in IMAGE.finditer(text_of(document))
    }

    assert shown == {*(ROOT / "docs" / "images").iterdir()}


def test_every_document_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        reached.add(document)
        targets = [(document.parent / urlsplit(target).path).resolve() for file, target in LINKS if file == document]
        # A link to a folder counts as a link to every document in it.
        files = [file for target in targets for file in (target.glob("*.md") if target.is_dir() else [target])]
        waiting += [file for file in set(files) if file in DOCUMENTS and file not in reached and file not in waiting]

    assert set(DOCUMENTS) - reached == set()


@pytest.mark.parametrize("block", [block for block in CLUSTER_FILES if block.note != "wrong"], ids=str)
def test_every_cluster_file_in_a_document_loads(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(block.text, encoding="utf-8")

    assert load(file)


@pytest.mark.parametrize("block", [block for block in CLUSTER_FILES if block.note == "wrong"], ids=str)
def test_a_wrong_cluster_file_says_what_the_document_shows(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clusters.yaml").write_text(block.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = next(after for after in blocks("text", block.document) if after.line > block.line)

    with pytest.raises(SpecError) as raised:
        load(Path("clusters.yaml"))

    assert raised.value.shown(Screen(), NOTHING_WRITTEN) == shown.text.rstrip("\n")


def test_every_command_is_a_known_one() -> None:
    unknown = [f"{block}: {words[0]}" for block, words in commands() if words[0] not in OTHER_TOOLS | OWN_TOOLS]

    assert unknown == []


def test_no_document_installs_the_package_of_another_project() -> None:
    """The name on PyPI is another project's, so only a folder or a file may be installed from there."""
    files = [*DOCUMENTS, *(ROOT / "docs" / "ci").iterdir()]
    from_pypi = re.compile(
        r"(?:pip|pipx|uv tool|uvx)\b[^`\n]* (?:install |run )?[\"']?nodeless(?:\[aws\])?[\"']?(?:\s|`|$)"
    )
    # These name what is installed already, or a folder of wheels; and one sentence says not to do it.
    allowed = ("--no-index", "uninstall", "inject", "do not run")
    found = [
        f"{name(file)}: {line.strip()}"
        for file in files
        for line in text_of(file).splitlines()
        if from_pypi.search(line) and not any(word in line for word in allowed)
    ]

    assert from_pypi.search("run `pip install nodeless`")
    assert found == []


def test_every_make_target_in_a_document_exists() -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    in_shell = {word for _, words in own("make") for word in words if "=" not in word}
    in_prose = set(re.findall(r"`make ([a-z-]+)", "".join(text_of(document) for document in DOCUMENTS)))

    assert in_shell
    assert in_shell | in_prose <= targets


@pytest.mark.parametrize(("block", "words"), nodeless_commands(), ids=str)
def test_every_nodeless_command_in_a_document_is_valid(block: Block, words: list[str]) -> None:
    try:
        nodeless_parser().parse_args(words)
    except SystemExit as ended:  # --version and --help end the command
        assert ended.code == 0, str(block)  # noqa: PT017 - no exception is the usual case


@pytest.mark.parametrize(("block", "words"), python_commands(), ids=str)
def test_every_python_command_in_a_document_runs_a_module_of_the_project(block: Block, words: list[str]) -> None:
    module = words[1].replace(".", "/") if words[0] == "-m" else words[0].removesuffix(".py")

    assert (ROOT / f"{module}.py").is_file() or (ROOT / module / "__main__.py").is_file(), str(block)


@pytest.mark.parametrize("command", ["explain", "schema"])
def test_the_commands_that_only_print_run_as_documented(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(words[0] == command for _, words in nodeless_commands())

    options = ["--config", str(ROOT / "clusters.yaml")] if command == "explain" else []
    assert nodeless([command, *options]) == 0
    assert "karpenter" in capsys.readouterr().out


def test_no_placeholder_in_prose_would_be_read_as_an_html_tag() -> None:
    lost = [
        f"{name(document)}: {tag}"
        for document in DOCUMENTS
        for tag in re.findall(r"<(?!!--)[a-zA-Z][^>]*>", without_code(text_of(document)))
    ]

    assert lost == []
