"""Files that include others: which are read, in which order, with which defaults, and where a mistake is said to be."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.main import main
from nodeless.finding import Finding, SpecError
from nodeless.origin import Origin
from nodeless.resolved.fingerprint import origin_of
from nodeless.sinks.terminal import Screen
from nodeless.spec import bounds, including
from nodeless.spec.fleet import Member, load_fleet
from nodeless.spec.include_paths import Scan
from nodeless.spec.resolution import load, resolve
from tests.cli.nodeless_process import run

TOP = Path("clusters.yaml")
Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write files below an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write_(**texts: str) -> None:
        for name, text in texts.items():
            file = Path(f"{name.replace('__', '/')}.yaml")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    return write_


def one(name: str, region: str = "eu-north-1") -> str:
    return f"clusters: [{{name: {name}, region: {region}}}]\n"


def refused(*configs: Path) -> SpecError:
    with pytest.raises(SpecError) as raised:
        load(*(configs or (TOP,)))
    return raised.value


def only(error: SpecError) -> Finding:
    (finding,) = error.findings
    return finding


def groups(members: tuple[Member, ...]) -> list[tuple[str, str]]:
    return [(member.installation.name, member.group) for member in members]


def test_own_clusters_come_first_and_then_the_files_in_sorted_order(write: Write) -> None:
    write(
        clusters=f"include: [teams/*.yaml, more/**/*.yaml]\n{one('own')}",
        teams__b=one("b"),
        teams__a=f"include: [nested/c.yaml]\n{one('a')}",
        teams__nested__c=one("c"),
        more__x__y__deep=one("deep"),
        more__flat=one("flat"),
    )

    assert groups(load_fleet([TOP])) == [
        ("own", "clusters.yaml"),
        ("flat", "more/flat.yaml"),
        ("deep", "more/x/y/deep.yaml"),
        ("a", "teams/a.yaml"),
        ("c", "teams/nested/c.yaml"),
        ("b", "teams/b.yaml"),
    ]


def test_a_group_is_shown_as_a_user_would_write_it(write: Write, tmp_path: Path) -> None:
    write(
        infra__clusters="include: [teams/a.yaml]\n",
        infra__teams__a=f"include: [../shared/b.yaml]\n{one('a')}",
        infra__shared__b=one("b"),
    )

    here = [group for _, group in groups(load_fleet([Path("infra/clusters.yaml")]))]
    from_the_root = [group for _, group in groups(load_fleet([tmp_path / "infra/clusters.yaml"]))]
    assert here == ["infra/teams/a.yaml", "infra/shared/b.yaml"]
    assert from_the_root == [str(tmp_path / group) for group in here]


def test_defaults_are_merged_file_by_file_under_each_cluster(write: Write) -> None:
    write(
        clusters="""
defaults: {region: eu-north-1, tags: {org: o, team: none, env: none}}
include: [a.yaml]
""",
        a="""
defaults: {tags: {team: a, env: none}, karpenter: {replicas: 3}}
include: [b.yaml]
clusters: [{name: a, tags: {env: prod}}]
""",
        b="defaults: {region: eu-west-1}\nclusters: [{name: b, karpenter: {replicas: 1}}]\n",
    )

    a, b = load(TOP)
    assert (a.region, a.replicas, a.tags) == ("eu-north-1", 3, {"org": "o", "team": "a", "env": "prod"})
    assert (b.region, b.replicas, b.tags) == ("eu-west-1", 1, {"org": "o", "team": "a", "env": "none"})


def test_files_that_are_named_together_share_no_defaults(write: Write) -> None:
    write(one=f"defaults: {{tags: {{team: a}}}}\n{one('a')}", two=one("b"))

    a, b = load(Path("one.yaml"), Path("two.yaml"))
    assert (a.tags, b.tags) == ({"team": "a"}, {})


def test_the_mark_of_origin_does_not_depend_on_the_file(write: Write) -> None:
    write(
        clusters="defaults: {region: eu-north-1}\ninclude: [teams/a.yaml]\n",
        teams__a="clusters: [{name: demo}]\n",
        alone=one("demo"),
    )

    marks: set[Origin] = {origin_of(found) for file in ("clusters.yaml", "alone.yaml") for found in load(Path(file))}
    assert len(marks) == 1


# What a file has under `include`, what is expected, and a word of the fix.
WRONG: dict[str, tuple[str, str, str]] = {
    "a text": ("include: teams/*.yaml", "a list of paths or globs", "write `include: [teams/*.yaml]`"),
    "a map": ("include: {a: b}", "a list of paths or globs", "write `include: [teams/*.yaml]`"),
    "a number in the list": ("include: [7]", "a path or glob", "such as teams/*.yaml"),
    "nothing in the list": ("include: [null]", "a path or glob", "such as teams/*.yaml"),
    "an empty text": ("include: ['']", "a path or glob relative to this file", "such as teams/*.yaml"),
    "an absolute path": ("include: [/etc/passwd]", "a path or glob relative to this file", "such as teams/*.yaml"),
    "a home folder": ("include: ['~/a.yaml']", "a path or glob relative to this file", "such as teams/*.yaml"),
    "an address": ("include: ['https://a/b.yaml']", "a path or glob relative to this file", "such as teams/*.yaml"),
    "a file above": ("include: [../other.yaml]", "in the folder of the file that --config names", "another --config"),
    "a folder above": ("include: ['../*/*.yaml']", "in the folder of the file that --config names", "another --config"),
    "the system's files": (
        "include: [link/1/mem]",
        "in the folder of the file that --config names",
        "another --config",
    ),
    "a link that leads out": (
        "include: [out.yaml]",
        "in the folder of the file that --config names",
        "another --config",
    ),
    "a glob without a match": ("include: [none/*.yaml]", "names at least one file", "correct it, or remove it"),
    "a file that is not there": ("include: [none.yaml]", "names at least one file", "create the file"),
    "a folder": ("include: [folder]", "files, not folders, pipes or devices", "name a file"),
    "a pipe": ("include: [pipe.yaml]", "files, not folders, pipes or devices", "name a file"),
    "a pipe among others": ("include: ['pi*.yaml']", "files, not folders, pipes or devices", "name a file"),
    "a link that leads nowhere": ("include: [nowhere.yaml]", "a readable file", "where links lead"),
    "a link to itself": ("include: [loop.yaml]", "a readable file", "where links lead"),
    "a name that is too long": (f"include: [{'x' * 300}.yaml]", "names at least one file", "create the file"),
    "a file of another kind": ("include: [secret.tfvars]", "ends with .yaml or .yml", "rename it"),
    "a link to a file of another kind": ("include: [kind.yaml]", "ends with .yaml or .yml", "rename it"),
    "a glob over files of another kind": ("include: ['secret*']", "names at least one file", "correct it, or remove"),
    "itself": ("include: [clusters.yaml]", "files that do not include themselves", "remove one of the steps"),
    "itself by a glob": ("include: ['cl*.yaml']", "files that do not include themselves", "remove one of the steps"),
    "a file twice": ("include: [good.yaml, good.yaml]", "each file once; good.yaml is the same", "remove one"),
    "a file by a glob and a name": ("include: ['go*.yaml', good.yaml]", "each file once; good.yaml", "remove one"),
    "a file and a link to it": ("include: [good.yaml, also.yaml]", "each file once; also.yaml is", "remove one"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_an_include_is_said_at_its_place(write: Write, case: str) -> None:
    text, expected, fix = WRONG[case]
    write(**{"top/clusters": f"# A comment.\n{text}\n{one('own')}", "top/good": one("good"), "other": one("other")})
    os.chdir("top")
    Path("folder").mkdir()
    os.mkfifo("pipe.yaml")
    Path("secret.tfvars").write_text("password = [\n", encoding="utf-8")
    for name, target in {
        "link": "/proc",
        "out.yaml": "../other.yaml",
        "nowhere.yaml": "gone.yaml",
        "loop.yaml": "loop.yaml",
        "also.yaml": "good.yaml",
        "kind.yaml": "secret.tfvars",
    }.items():
        Path(name).symlink_to(target)

    found = only(refused())

    assert (found.file, found.line, found.path[0]) == ("clusters.yaml", 2, "include")
    assert expected in found.expected
    assert fix in found.fix
    assert str(found).startswith(("include: ", "wrong value for include: "), len("clusters.yaml:2:10: "))
    assert main(["explain"]) == 2


def test_a_cycle_is_shown_step_by_step(write: Write) -> None:
    write(clusters="include: [a.yaml]\n", a="include: [b.yaml]\n", b=f"{one('b')}include: [a.yaml]\n")

    found = only(refused())

    assert found.problem == "include: a cycle: a.yaml -> b.yaml -> a.yaml"
    assert (found.file, found.line) == ("b.yaml", 2)


def test_a_file_that_two_others_include_is_refused_at_the_second(write: Write) -> None:
    write(clusters="include: [x/*.yaml]\n", x__a="include: [../c.yaml]\n", x__b="include: [../c.yaml]\n", c=one("c"))

    found = only(refused())

    assert (found.file, found.value) == ("x/b.yaml", "c.yaml")


def test_a_file_is_named_once(write: Write) -> None:
    write(clusters=one("a"), fleet="include: [clusters.yaml]\n")

    assert "it is read already, as clusters.yaml" in only(refused(TOP, Path("./clusters.yaml"))).expected
    assert "it is read already, as clusters.yaml" in only(refused(Path("fleet.yaml"), TOP)).expected
    assert only(refused(TOP, Path("fleet.yaml"))).file == "fleet.yaml"


def test_a_chain_of_includes_is_so_long_and_no_longer(write: Write) -> None:
    levels = [f"level{number}" for number in range(bounds.DEEPEST_INCLUDE + 1)]
    write(clusters="include: [level0.yaml]\n", **dict.fromkeys(levels, ""))
    for name, below in zip(levels, [*levels[1:], ""], strict=True):
        write(**{name: f"{f'include: [{below}.yaml]' if below else ''}\n{one(name)}"})

    assert only(refused()).expected == "a chain of at most 8 includes"
    write(**{levels[-2]: one(levels[-2])})
    assert len(load(TOP)) == bounds.DEEPEST_INCLUDE


def test_the_number_of_files_is_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(including, "MOST_FILES", 4)
    write(clusters="include: [teams/*.yaml]\n", **{f"teams__t{number}": one(f"c{number}") for number in range(3)})
    assert len(load(TOP)) == 3

    write(teams__t3=one("c3"))
    assert only(refused()).expected.startswith("at most 4 files")


def test_values_are_bounded_over_all_files(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(including, "MOST_VALUES_IN_ALL", 40)
    write(clusters="include: [teams/*.yaml]\n", **{f"teams__t{number}": one(f"c{number}") for number in range(3)})
    assert len(load(TOP)) == 3

    write(teams__t0=f"x-own: [{', '.join('x' * 40)}]\n{one('c0')}")
    assert {found.expected for found in refused().findings} == {"at most 1,000 files, with 40 keys and values together"}


def test_clusters_are_counted_over_all_files(write: Write) -> None:
    rows = ", ".join(f"{{name: NAME{number}}}" for number in range(bounds.MOST_CLUSTERS // 2))
    write(
        clusters="defaults: {region: eu-north-1}\ninclude: [a.yaml, b.yaml]\n",
        a=f"clusters: [{rows.replace('NAME', 'a')}]\n",
        b=f"clusters: [{rows.replace('NAME', 'b')}, {{name: last}}]\n",
    )

    found = only(refused())

    assert (found.file, found.value, found.expected) == ("b.yaml", 2001, "at most 2,000 clusters in one run")


@pytest.mark.parametrize("pattern", ["**/*.yaml", "*/*.yaml", "**"])
def test_a_glob_looks_at_a_bounded_number_of_files(write: Write, monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    write(
        fleet__clusters=f"include: ['teams/{pattern}']\n", **{f"fleet__teams__t__t{n}": one(f"c{n}") for n in range(9)}
    )
    file = Path("fleet/clusters.yaml")
    assert len(load(file)) == 9

    monkeypatch.setattr(including, "Scan", lambda root: Scan(root, left=9))
    assert "20,000 files and folders" in only(refused(file)).expected


def test_hidden_files_and_links_to_folders_are_not_walked(write: Write) -> None:
    write(clusters="include: ['**/a*.yaml']\n", x__a=one("a"), x__y__ab=one("ab"))
    for name in (".git", "x/.terraform"):
        Path(name).mkdir()
        (Path(name) / "abc.yaml").write_text(one("hidden"))
    Path("x/y/around").symlink_to("../../x")

    assert [group for _, group in groups(load_fleet([TOP]))] == ["x/a.yaml", "x/y/ab.yaml"]


def test_standard_input_and_what_python_passes_have_no_folder_to_include_from(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(a=one("a"))
    text = f"include: [a.yaml]\n{one('own')}"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    found = only(refused(Path("-")))
    with pytest.raises(SpecError) as raised:
        resolve({"include": ["a.yaml"]}, source="test")

    assert (found.file, found.line) == ("<stdin>", 1)
    assert found.fix == "write it to a file, and name that with --config"
    assert only(raised.value).expected == found.expected


def test_clusters_may_be_left_out_beside_an_include_only(write: Write) -> None:
    write(clusters="include: [a.yaml]\n", a=one("a"))
    assert len(load(TOP)) == 1

    for text in ("include: []\n", "include:\n", "include: [a.yaml]\nclusters: []\n", "defaults: {}\n"):
        write(clusters=text)
        assert only(refused()).where() == "clusters"


def test_an_included_file_is_an_ordinary_one(write: Write) -> None:
    write(clusters="include: [a.yaml, b.yaml]\n", a="defaults: {}\n", b="- name: x\n")

    assert [(found.file, found.problem) for found in refused().findings] == [
        ("a.yaml", "missing key: clusters"),
        ("b.yaml", "the file is a list"),
    ]


def test_a_mistake_is_shown_in_the_file_that_has_it(write: Write) -> None:
    write(
        clusters="""\
defaults: {region: eu-north-1, karpenter: {version: "9.9.9"}}
include: [teams/*.yaml]
clusters: [{name: own, tgas: {}}]
""",
        teams__a="defaults: {tags: {aws:x: y}}\nclusters:\n  - name: a\n    kubernetes: '1.0'\n",
        teams__b="clusters:\n  - name: [\n",
    )

    error = refused()

    assert [(found.file, found.line, found.where()) for found in error.findings] == [
        ("clusters.yaml", 1, "defaults.karpenter.version"),
        ("clusters.yaml", 3, "clusters[0].tgas"),
        ("teams/a.yaml", 1, "defaults.tags.aws:x"),
        ("teams/a.yaml", 4, "clusters[0].kubernetes"),
        ("teams/b.yaml", 3, "(the whole file)"),
    ]
    text = error.shown(Screen())
    assert "4 |     kubernetes: '1.0'\n" in text
    assert text.splitlines()[-1] == "clusters.yaml, teams/a.yaml, teams/b.yaml: 5 problems"


def test_errors_for_programs_name_the_file_of_each(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(clusters=f"include: [a.yaml]\n{one('own', 'nowhere')}", a=one("a", "nowhere"))

    assert main(["explain", "--json"]) == 2

    rows = json.loads(capsys.readouterr().out)["findings"]
    assert [(row["file"], row["line"]) for row in rows] == [("clusters.yaml", 2), ("a.yaml", 1)]


def test_warnings_name_the_file_too(write: Write) -> None:
    warnings: list[Finding] = []
    write(clusters="defaults: {kubernetes: '1.99'}\ninclude: [a.yaml]\n", a=f"{one('a')}")

    load(TOP, warn=warnings.append)

    (warning,) = warnings
    assert warning.as_warning().startswith("clusters.yaml:1:24: warning: defaults.kubernetes: ")


@pytest.mark.parametrize(
    "pattern",
    [
        "\\x1b]0;owned\\x07",
        "\\u202Egnp.yaml",
        "${path.module}/x",
        "%{ for a in b }",
        "x?token=hunter2",
        "token: hunter2",
    ],
)
def test_a_path_reaches_no_terminal_and_shows_no_secret(
    write: Write, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    write(clusters=f'include: ["{pattern}"]\n{one("own")}')

    assert main(["explain"]) == 2

    shown = capsys.readouterr().err
    assert all(line.isprintable() for line in shown.splitlines())
    assert "hunter2" not in shown


def test_the_name_of_a_file_reaches_no_terminal(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(clusters="include: [t/*]\n")
    Path("t").mkdir()
    for number, name in enumerate((b"\x1b[31mred.yaml", b"\xff\xfe.yaml", b"new\nline.yaml", b"${a}.yaml")):
        Path("t", os.fsdecode(name)).write_text(one(f"c{number}", "nowhere"))

    assert main(["explain"]) == 2
    assert main(["explain", "--json"]) == 2

    captured = capsys.readouterr()
    assert all(line.isprintable() for line in captured.err.splitlines())
    assert len(json.loads(captured.out)["findings"]) == 4


def test_a_pipe_keeps_nobody_waiting(write: Write) -> None:
    write(clusters="include: ['t/**']\n", t__a=one("a"))
    os.mkfifo("t/pipe.yaml")

    done = run(Path.cwd(), f"{shlex.quote(sys.executable)} -m nodeless explain")

    assert (done.returncode, done.stdout) == (2, "")
    assert "not a file" in done.stderr


def test_an_unreadable_file_is_named_where_it_is_included(write: Write) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write(clusters="include: [a.yaml]\n", a=one("a"))
    Path("a.yaml").chmod(0)

    found = only(refused())
    assert (found.file, found.problem) == ("clusters.yaml", "include: it cannot be read: Permission denied")


def test_a_large_file_is_not_read_to_its_end(write: Write) -> None:
    write(clusters="include: [a.yaml]\n", a=f"{one('a')}#".ljust(bounds.LARGEST_FILE + 1, "x"))

    found = only(refused())
    assert (found.file, found.expected) == ("a.yaml", "a file of at most 512 KiB")


def keys(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a cluster
    return {"region": "eu-north-1", "account": "123456789012", **given}


def in_two_files(write: Write, first: dict[str, Any], second: dict[str, Any]) -> list[Finding]:
    """Put two clusters into files of their own, which a third includes, and return what is wrong."""
    write(
        clusters="include: [teams/*.yaml]\n",
        teams__a=json.dumps({"clusters": [{"name": "one", **first}]}),
        teams__b=json.dumps({"clusters": [{"name": "two", **second}]}),
    )
    try:
        load(TOP)
    except SpecError as error:
        return list(error.findings)
    return []


S3 = {"type": "s3", "bucket": "states", "region": "eu-north-1", "key": "same"}
CLOUD = {"type": "cloud", "organization": "o", "workspaces": {"tags": ["same"]}}
# What two clusters have the same, and the path of the finding at the second.
SHARED: dict[str, tuple[dict[str, Any], tuple[str | int, ...]]] = {
    "a stack": ({"stack": "same"}, ("stack",)),
    "a cluster": ({"name": "same"}, ("name",)),
    "a role": ({"names": {"node_role": "same"}}, ("names", "node_role")),
    "a queue": ({"names": {"queue": "same"}}, ("names", "queue")),
    "a rule": ({"names": {"rules": {"spot": "same"}}}, ("names", "rules", "spot")),
    "a policy": ({"names": {"policies": {"interruption": "same"}}}, ("names", "policies", "interruption")),
    "a state": ({"backend": S3}, ("backend", "key")),
    "tags of workspaces": ({"backend": CLOUD}, ("backend", "workspaces", "tags")),
    "a subnet": ({"discovery": {"subnets": ["subnet-0123456789abcdef0"]}}, ("discovery", "subnets", 0)),
    "an issuer": (
        {"oidc_provider": "create", "oidc_issuer": "https://oidc.eks.eu-north-1.amazonaws.com/id/A0"},
        ("oidc_issuer",),
    ),
    "the role for spot": ({"spot_service_linked_role": True}, ("spot_service_linked_role",)),
}


@pytest.mark.parametrize("case", SHARED)
def test_clusters_of_two_files_share_nothing_that_clusters_of_one_must_not(write: Write, case: str) -> None:
    shared, path = SHARED[case]

    (found,) = in_two_files(write, keys(**shared), keys(**shared))

    assert (found.file, found.path) == ("teams/b.yaml", ("clusters", 0, *path))
    assert "clusters[0] in teams/a.yaml" in found.expected


@pytest.mark.parametrize("case", ["a role", "a queue", "a rule", "a policy", "an issuer", "the role for spot"])
def test_clusters_of_two_accounts_may_have_the_same_names(write: Write, case: str) -> None:
    shared, _ = SHARED[case]

    assert in_two_files(write, keys(**shared), keys(**shared, account="210987654321")) == []


@pytest.mark.parametrize("case", ["a queue", "a rule"])
def test_clusters_of_two_regions_may_have_the_same_names_of_queues_and_rules(write: Write, case: str) -> None:
    shared, _ = SHARED[case]

    assert in_two_files(write, keys(**shared), keys(**shared, region="eu-west-1")) == []


ALL_AND_TWO = "include: [t/*.yaml]\nclusters: [{name: a}, {name: b}]\n"


def test_a_message_in_an_including_file_names_the_file_of_the_other_cluster(write: Write) -> None:
    write(
        clusters=f"defaults: {{region: eu-north-1, backend: {json.dumps(S3)}}}\ninclude: [t/*.yaml]\n"
        "clusters: [{name: root, backend: {key: other}}]\n",
        t__a="clusters: [{name: a}, {name: b}]\n",
    )

    found = only(refused())

    assert found.file == "clusters.yaml"
    assert "clusters[0] in t/a.yaml" in found.expected


def test_a_default_that_is_wrong_for_some_clusters_names_them(write: Write) -> None:
    write(
        clusters="defaults: {region: eu-north-1, kubernetes: '1.30'}\ninclude: [t/*.yaml]\n"
        "clusters: [{name: fine, karpenter: {version: 1.0.8}}]\n",
        t__a="clusters: [{name: a, karpenter: {version: 1.14.1}}, {name: b, karpenter: {version: 1.0.8}}]\n",
        t__b="clusters: [{name: c, kubernetes: '1.35', karpenter: {version: 1.14.1}}]\n",
    )
    write(t__c="clusters: [{name: d, karpenter: {version: 0.25.0}}]\n")

    error = refused()

    assert {finding.only_in for finding in error.findings} == {("d (t/c.yaml)",)}
    assert "only in   1 cluster: d (t/c.yaml)" in str(error)


def test_a_default_that_is_wrong_for_all_clusters_is_one_mistake_whatever_the_fix_says(write: Write) -> None:
    no_role = "node_classes: [{name: own, spec: {amiSelectorTerms: [{alias: al2023@latest}]}}]"
    write(
        clusters=f"defaults: {{region: eu-north-1, {no_role}}}\n{ALL_AND_TWO}",
        t__c="clusters: [{name: c}]\n",
    )

    error = refused()

    assert len(error.findings) == len({finding.path for finding in error.findings})
    assert {finding.only_in for finding in error.findings} == {()}


def test_the_same_mistake_in_many_files_is_one_message(write: Write) -> None:
    write(
        clusters="include: [t/*.yaml]\n",
        **{
            f"t__{name}": f"clusters: [{{name: {name}, region: eu-north-1, tgas: {{a: {name}}}}}]\n"
            for name in "abcdefg"
        },
    )

    error = refused()

    assert len(error.findings) == 7
    assert str(error).count("unknown key: tgas") == 1
    assert "also in   6 other clusters: b (t/b.yaml:1:42), c (t/c.yaml:1:42)" in str(error)


def test_the_same_warning_is_given_once(write: Write) -> None:
    newer = "karpenter: {version: 1.15.0, tables: '1.14'}"
    write(
        clusters=f"defaults: {{region: eu-north-1, {newer}}}\n{ALL_AND_TWO}",
        t__c=f"clusters: [{{name: c, {newer}}}, {{name: d, {newer}}}]\n",
    )
    warnings: list[Finding] = []

    load(TOP, warn=warnings.append)

    shown = [each.as_warning() for each in warnings]
    assert [line.partition(": warning")[0] for line in shown] == ["clusters.yaml:1:53", "t/c.yaml:1:43"]
    assert shown[0].endswith(" (only in 2 clusters: a, b)")
    assert shown[1].endswith(" (also in 1 other cluster: d)")


def test_a_file_that_a_glob_names_is_named(write: Write) -> None:
    write(clusters="include: ['t/*.yaml']\n", t__fine=one("a"))
    os.mkfifo("t/pipe.yaml")
    Path("t/loop.yaml").symlink_to("loop.yaml")
    Path("t/nowhere.yaml").symlink_to("missing.yaml")

    problems = {finding.problem for finding in refused().findings}

    assert "include: t/pipe.yaml: not a file" in problems
    assert any(problem.startswith("include: t/loop.yaml: ") for problem in problems)
    assert "include: t/nowhere.yaml: it cannot be read: No such file or directory" in problems
