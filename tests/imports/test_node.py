"""Which Node runs, and what the hook in it changes."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.resources import files
from pathlib import Path

import pytest

from nodeless.imports import FRAMEWORK, fast_bindings
from nodeless.imports.framework import FRAMEWORKS
from tests.imports.facade import camel_case, provider_modules
from tests.imports.processes import node_in_use, run

NODE = node_in_use()
LIBRARY = "node_modules/@{framework}/provider-{provider}/lib"


@pytest.fixture(params=[each.name for each in FRAMEWORKS])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the library folder of a provider that says which of its two indexes was loaded."""
    library = tmp_path / LIBRARY.format(framework=request.param, provider="toy")
    library.mkdir(parents=True)
    (library / "index.js").write_text("exports.loaded = 'every module';\n")
    (library / "lazy-index.js").write_text("exports.loaded = 'modules in use';\n")
    return library


def hooked(program: str, folder: Path, node_options: str = "") -> str:
    """Run JavaScript in a Node that starts as jsii's does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NODE_OPTIONS", node_options)
        with fast_bindings._environment(fast_bindings._node_hook()):  # noqa: SLF001 - the environment jsii's Node gets
            done = subprocess.run([NODE, "-e", program], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_without_a_file_beside_the_hook_a_provider_is_loaded_through_its_lazy_index(provider: Path) -> None:
    assert not fast_bindings.NODE_HOOK.with_name("toy.py").exists()
    assert hooked(f"console.log(require('{provider}/index.js').loaded)", provider.parents[3]) == "modules in use"


def test_a_module_of_the_facade_is_loaded_without_any_index(
    provider: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "imports"
    beside.mkdir()
    (beside / "toy.py").write_text("from cdktf_cdktf_provider_toy.some_thing import SomeThing as SomeThing\n")
    monkeypatch.setattr(fast_bindings, "NODE_HOOK", Path(shutil.copy(fast_bindings.NODE_HOOK, beside)))
    (provider / "lazy-index.js").write_text("throw new Error('not needed');\n")
    (provider / "some-thing").mkdir()
    (provider / "some-thing/index.js").write_text("exports.SomeThing = 'a class';\n")

    program = f"console.log(require('{provider}/index.js').someThing.SomeThing)"
    assert hooked(program, provider.parents[3]) == "a class"


@pytest.mark.parametrize("file", ["aws", "helm"])
def test_the_hook_finds_every_module_that_the_facade_imports(file: str, tmp_path: Path) -> None:
    library = tmp_path / LIBRARY.format(framework=FRAMEWORK.name, provider=file)
    modules = sorted(provider_modules(file))
    for module in modules:
        (library / module.replace("_", "-")).mkdir(parents=True)
        (library / module.replace("_", "-") / "index.js").write_text(f"exports.here = '{module}';\n")
    (library / "index.js").touch()
    (library / "lazy-index.js").write_text("module.exports = new Proxy({}, { get: () => ({ here: 'slow' }) });\n")

    names = json.dumps([camel_case(module) for module in modules])
    program = f"const all = require('{library}/index.js'); console.log({names}.map((name) => all[name].here).join())"
    assert modules
    assert hooked(program, tmp_path).split(",") == modules
    assert hooked(f"console.log(require('{library}/index.js').s3Bucket.here)", tmp_path) == "slow"


def test_archiver_is_loaded_when_it_is_first_called(tmp_path: Path) -> None:
    folder = tmp_path / "node_modules/archiver"
    folder.mkdir(parents=True)
    (folder / "index.js").write_text("console.log('loaded'); module.exports = (kind) => kind + ' archive';\n")

    program = "const archiver = require('archiver'); console.log('required'); console.log(archiver('zip'))"
    assert hooked(program, tmp_path).splitlines() == ["required", "loaded", "zip archive"]


def test_a_provider_without_a_lazy_index_is_loaded_whole(provider: Path) -> None:
    (provider / "lazy-index.js").unlink()

    assert hooked(f"console.log(require('{provider}/index.js').loaded)", provider.parents[3]) == "every module"


def test_node_hands_the_hook_on_to_its_worker_and_to_no_other_process(tmp_path: Path) -> None:
    program = "console.log(JSON.stringify([process.execArgv, process.env.NODE_OPTIONS ?? null]))"

    arguments, options = json.loads(hooked(program, tmp_path))
    assert arguments[-2:] == ["--require", str(fast_bindings.NODE_HOOK.resolve())]
    assert options is None

    arguments, options = json.loads(hooked(program, tmp_path, "--max-old-space-size=3000"))
    assert arguments[-2:] == ["--require", str(fast_bindings.NODE_HOOK.resolve())]
    assert options == "--max-old-space-size=3000"


def test_the_hook_is_found_in_a_folder_with_a_strange_name(
    provider: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = tmp_path / ("it's a folder" if sys.platform == "win32" else 'a "folder" \\ of it\'s own')
    strange.mkdir()
    monkeypatch.setattr(fast_bindings, "NODE_HOOK", Path(shutil.copy(fast_bindings.NODE_HOOK, strange)))

    assert hooked(f"console.log(require('{provider}/index.js').loaded)", provider.parents[3]) == "modules in use"


def test_without_the_hook_s_file_node_starts_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_bindings, "NODE_HOOK", tmp_path / "missing.cjs")

    assert fast_bindings._node_hook() == {}  # noqa: SLF001 - the environment jsii's Node gets


@pytest.mark.slow
@pytest.mark.parametrize("package", FRAMEWORK.providers)
def test_the_lazy_index_names_the_same_modules_as_the_index(package: str) -> None:
    (tarball,) = (entry for entry in files(f"{package}._jsii").iterdir() if entry.name.endswith(".tgz"))
    texts = {}
    with tarball.open("rb") as stored, tarfile.open(fileobj=stored, mode="r|gz") as archive:
        for member in archive:
            name = Path(member.name).name
            content = archive.extractfile(member) if member.name == f"package/lib/{name}" else None
            if content and name in {"index.js", "lazy-index.js"}:
                texts[name] = content.read().decode().partition("//# sourceMappingURL")[0]

    index = r"exports\.(\w+) = (?:__importStar\()?require\(\"(.+?)(?:/index)?\"\)"
    every = dict(re.findall(index, texts["index.js"]))
    lazy = dict(re.findall(r"defineProperty\(exports, '(\w+)', .+? require\('(.+?)'\)", texts["lazy-index.js"]))
    assert every
    assert lazy == every
    for module in provider_modules(package.rpartition("_")[2]):
        assert lazy[camel_case(module)] == f"./{module.replace('_', '-')}"


def test_a_node_named_by_the_user_is_used(tmp_path: Path) -> None:
    program = f"""
import jsii
from nodeless.imports.cdk import App
App(outdir={str(tmp_path)!r})
print(jsii.kernel.provider._process._process.args[0])
"""
    named = tmp_path / "my-node"
    named.symlink_to(NODE)

    assert run("-c", program, JSII_NODE=str(named)).stdout.strip() == str(named)
