"""What people often write: each mistake is one message, at its place, with what was meant."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from nodeless.finding import CLUSTERS, Finding, SpecError
from nodeless.sinks.excerpts import Mark
from nodeless.sinks.terminal import Screen
from nodeless.spec.advice import KEYS_OF_CLUSTERS, NOT_NEEDED
from nodeless.spec.model import Cluster
from nodeless.spec.reading import parse
from nodeless.spec.resolution import resolve
from nodeless.spec.validation import _all_sections
from tests.refusals import problems

FILE = Path("clusters.yaml")
CLASS = "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}"
DEMO = "clusters:\n  - name: demo\n    region: eu-north-1\n"

# The file; line and column; the first line of the message after its place; the fix.
MISTAKES: dict[str, tuple[str, str, str, str]] = {
    "a whole manifest as a pool": (
        DEMO + "    node_pools:\n"
        "      - apiVersion: karpenter.sh/v1\n"
        "        kind: NodePool\n"
        "        metadata:\n"
        "          name: general\n"
        "        spec:\n"
        f"          template: {{spec: {{requirements: [], nodeClassRef: {CLASS}}}}}\n",
        "6:9",
        "a whole manifest in node_pools",
        "write `- name: general` and keep spec below it; remove apiVersion, kind, metadata",
    ),
    "a release as karpenter": (
        DEMO + '    karpenter: "1.14.1"\n',
        "4:16",
        "wrong value for karpenter: '1.14.1'",
        'write `karpenter: {version: "1.14.1"}`',
    ),
    "a release as karpenter, without quotes": (
        DEMO + "    karpenter: 1.14\n",
        "4:16",
        "wrong value for karpenter: 1.14",
        'write `karpenter: {version: "1.14"}`',
    ),
    "a backend's name as backend": (
        DEMO + "    backend: s3\n",
        "4:14",
        "wrong value for backend: 's3'",
        "write `backend: {type: s3, bucket: …, region: …}`",
    ),
    "another backend's name as backend": (
        DEMO + "    backend: gcs\n",
        "4:14",
        "wrong value for backend: 'gcs'",
        "write `backend: {type: gcs, bucket: …}`",
    ),
    "a backend of HCL": (
        DEMO + "    backend:\n      s3:\n        bucket: x\n",
        "4:5",
        "wrong value for backend: a map",
        "write `type: s3`, and its keys beside it",
    ),
    "a backend that does not exist": (
        DEMO + "    backend: {type: azure}\n",
        "4:21",
        "wrong value for backend.type: 'azure'",
        "write azurerm",
    ),
    "a word of YAML 1.1": (
        DEMO + "    fargate: yes\n",
        "4:14",
        "wrong value for fargate: 'yes'",
        "write true",
    ),
    "a switch in quotes": (
        DEMO + '    fargate: "true"\n',
        "4:14",
        "wrong value for fargate: 'true'",
        "write true",
    ),
    "another word of YAML 1.1": (
        DEMO + "    smoke_test: on\n",
        "4:17",
        "wrong value for smoke_test: 'on'",
        "write true, without quotes",
    ),
    "a word for off": (
        DEMO + "    interruption: disabled\n",
        "4:19",
        "wrong value for interruption: 'disabled'",
        "write false",
    ),
    "a patch of Kubernetes": (
        DEMO + '    kubernetes: "1.30.4"\n',
        "4:17",
        "wrong value for kubernetes: '1.30.4'",
        'write "1.30"',
    ),
    "Kubernetes with a v": (
        DEMO + "    kubernetes: v1.30\n",
        "4:17",
        "wrong value for kubernetes: 'v1.30'",
        'write "1.30"',
    ),
    "Kubernetes in typographic quotes": (
        DEMO + "    kubernetes: “1.30”\n",
        "4:17",
        "wrong value for kubernetes: '“1.30”'",
        'write "1.30"',
    ),
    "Kubernetes as a number": (
        DEMO + "    kubernetes: 1.30\n",
        "4:17",
        "wrong value for kubernetes: 1.30",
        'write "1.30", with the quotes',
    ),
    "a key for anchors": (
        "base: &a {region: eu-north-1}\nclusters:\n  - {<<: *a, name: demo}\n",
        "1:1",
        "unknown key: base",
        "remove it, or move it into a cluster; a key of your own, for anchors, begins with x-",
    ),
    "the key clusterName": (
        "clusters:\n  - clusterName: demo\n    region: eu-north-1\n",
        "2:5",
        "unknown key: clusterName",
        "write name",
    ),
    "the key cluster at the top": (
        "cluster:\n  - name: demo\n    region: eu-north-1\n",
        "1:1",
        "unknown key: cluster",
        "did you mean clusters?",
    ),
    "an empty file": (
        "",
        "",
        "the file is empty",
        "start the file with `clusters:`, and below it `  - name: demo` and `    region: eu-north-1`",
    ),
    "only a comment": (
        "# x\n",
        "",
        "the file is empty",
        "start the file with `clusters:`, and below it `  - name: demo` and `    region: eu-north-1`",
    ),
    "no region": (
        "clusters:\n  - name: demo\n",
        "2:5",
        "missing key: region",
        "add the cluster's AWS region, such as `region: eu-north-1`",
    ),
    "a version of the cluster": (
        DEMO + '    version: "1.14.1"\n',
        "4:5",
        "unknown key: version",
        "move it to karpenter.version",
    ),
    "a tag that is true": (
        DEMO + "    tags: {a: true}\n",
        "4:15",
        "wrong value for tags.a: true",
        'write "true", with the quotes',
    ),
    "tags as AWS lists them": (
        DEMO + "    tags: [{Key: a, Value: b}]\n",
        "4:11",
        "wrong value for tags: a list",
        "write a map: `tags: {a: b}`",
    ),
    "tags as a list of texts": (
        DEMO + "    tags:\n      - a=b\n",
        "4:5",
        "wrong value for tags: a list",
        "write `key: value` lines below it, without dashes",
    ),
    "clusters as a map of names": (
        "clusters:\n  demo:\n    region: eu-north-1\n",
        "1:1",
        "wrong value for clusters: a map",
        "write a list: `- name: demo` with its other keys below it",
    ),
    "clusters as one map": (
        "clusters:\n  name: demo\n  region: x\n",
        "1:1",
        "wrong value for clusters: a map",
        "write a dash before the first key, and indent the others as far: `- name: …`",
    ),
    "clusters as a text": (
        "clusters: demo\n",
        "1:11",
        "wrong value for clusters: 'demo'",
        "write a list: `- name: demo` below it, with its region",
    ),
    "a cluster as a text": (
        "clusters:\n  - demo\n",
        "2:5",
        "wrong value for clusters[0]: 'demo'",
        "write `- name: demo`, with its region below it",
    ),
    "a cluster without a space after its colon": (
        "clusters:\n  - name:demo\n",
        "2:5",
        "wrong value for clusters[0]: 'name:demo'",
        "write a space after the colon: `- name: demo`",
    ),
    "an item without a space after its dash": (
        "clusters:\n  -name: demo\n",
        "1:1",
        "wrong value for clusters: a map",
        "write a hyphen and a space: `- name: …`",
    ),
    "an item after a long dash": (
        "clusters:\n  \u2013 name: demo\n",
        "1:1",
        "wrong value for clusters: a map",
        "write a hyphen and a space: `- name: …`",
    ),
    "keys of a Terraform module": (
        DEMO + "    cluster_endpoint: x\n",
        "4:5",
        "unknown key: cluster_endpoint",
        "write endpoint",
    ),
    "an argument of a Terraform module": (
        DEMO + "    oidc_provider_arn: x\n",
        "4:5",
        "unknown key: oidc_provider_arn",
        "remove it: it is looked up by the cluster's issuer",
    ),
    "a key in camel case": (
        DEMO + "    oidcIssuer: x\n",
        "4:5",
        "unknown key: oidcIssuer",
        "write oidc_issuer",
    ),
    "a key of a section in camel case": (
        DEMO + "    karpenter: {serviceAccount: x}\n",
        "4:17",
        "unknown key: serviceAccount",
        "write service_account",
    ),
    "a list of subnets as a text": (
        DEMO + "    subnets: subnet-1, subnet-2\n",
        "4:14",
        "wrong value for subnets: 'subnet-1, subnet-2'",
        "write `subnets: [subnet-1, subnet-2]`",
    ),
    "pools as a map": (
        DEMO + "    node_pools:\n      default:\n        spec: {}\n",
        "4:5",
        "wrong value for node_pools: a map",
        "write a list: `- name: default` with its `spec:` below it",
    ),
    "pools as names": (
        DEMO + "    node_pools: [default]\n",
        "4:18",
        "wrong value for node_pools[0]: 'default'",
        "write `- name: default` with its `spec:` below it",
    ),
    "a role to assume as a text": (
        DEMO + "    provider: {assume_role: arn:aws:iam::123456789012:role/x}\n",
        "4:29",
        "wrong value for provider.assume_role: 'arn:aws:iam::123456789012:role/x'",
        "write `assume_role: {role_arn: arn:aws:iam::123456789012:role/x}`",
    ),
    "selectors as a map": (
        DEMO + "    fargate:\n      selectors:\n        namespace: karpenter\n",
        "5:7",
        "wrong value for fargate.selectors: a map",
        "write a dash before the first key of each item",
    ),
    "a number in quotes": (
        DEMO + '    karpenter: {replicas: "3"}\n',
        "4:27",
        "wrong value for karpenter.replicas: '3'",
        "write 3, without quotes",
    ),
    "a key without a value": (
        DEMO + "    path:\n",
        "4:5",
        "wrong value for path: nothing",
        "write a value after the colon, or remove the key",
    ),
    "a section without keys": (
        DEMO + "    backend:\n",
        "4:5",
        "wrong value for backend: nothing",
        "write `key: value` lines below it, or remove the key",
    ),
    "a cluster at the top": (
        "name: demo\nregion: eu-north-1\n",
        "1:1",
        "the keys of a cluster, without clusters above them",
        "write `clusters:` above them, then `  - name: …`, and indent the others as far as name",
    ),
    "a manifest as the file": (
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: x}\nspec: {}\n",
        "2:7",
        "a manifest of Kubernetes: NodePool",
        "write a file with clusters; the name and spec of this manifest may go to node_pools of a cluster",
    ),
    "a list as the file": (
        "- name: demo\n",
        "1:1",
        "the file is a list",
        "write `clusters:` above the list",
    ),
    "a file of Terraform": (
        'cluster_name = "demo"\nregion = "x"\n',
        "1:1",
        "the file is one text",
        (
            "start the file with `clusters:`, and below it `  - name: demo` and `    region: eu-north-1`: a file is "
            "YAML, with a colon and a space after each key"
        ),
    ),
    "an account with hyphens": (
        DEMO + "    account: '1234-5678-9012'\n",
        "4:14",
        "wrong value for account: '1234-5678-9012'",
        'write "123456789012"',
    ),
    "an account as a number": (
        DEMO + "    account: 123456789012\n",
        "4:14",
        "wrong value for account: 123456789012",
        'write "123456789012", with the quotes',
    ),
    "an ARN as the name": (
        "clusters:\n  - name: arn:aws:eks:eu-north-1:123456789012:cluster/demo\n    region: eu-north-1\n",
        "2:11",
        "wrong value for name: 'arn:aws:eks:eu-north-1:123456789012:cluster/demo'",
        "write demo",
    ),
    "a zone as the region": (
        "clusters:\n  - name: demo\n    region: eu-north-1a\n",
        "3:13",
        "wrong value for region: 'eu-north-1a'",
        "did you mean eu-north-1?",
    ),
    "a word that is almost right": (
        DEMO + "    delivery: gitop\n",
        "4:15",
        "wrong value for delivery: 'gitop'",
        "write gitops",
    ),
    "a word in another case": (
        DEMO + "    identity: podIdentity\n",
        "4:15",
        "wrong value for identity: 'podIdentity'",
        "write pod-identity",
    ),
    "a misspelt value of the chart": (
        DEMO + "    karpenter:\n      values:\n        setings: {x: 1}\n",
        "6:19",
        "unknown key of the chart: setings.x",
        "use settings",
    ),
    "an operator in lower case": (
        DEMO + "    node_pools:\n"
        "      - name: a\n"
        "        spec:\n"
        "          weight: 3\n"
        "          template:\n"
        "            metadata:\n"
        "              labels:\n"
        "                team: one\n"
        "            spec:\n"
        "              requirements:\n"
        "                - key: karpenter.sh/capacity-type\n"
        "                  operator: in\n"
        "                  values: [spot]\n"
        "              nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n"
        "          limits: {cpu: 3}\n",
        "15:29",
        "wrong value for requirements[0].operator: 'in'",
        "write In",
    ),
    "a limit that no node has": (
        DEMO + "    node_pools:\n"
        "      - name: a\n"
        "        spec:\n"
        "          limits: {cpus: 3}\n"
        f"          template: {{spec: {{requirements: [], nodeClassRef: {CLASS}}}}}\n",
        "7:20",
        "wrong value for limits.cpus: 3",
        "did you mean cpu?",
    ),
    "a tab": (
        "clusters:\n  - name: demo\n\tregion: x\n",
        "3:1",
        "a tab in the indentation",
        "use spaces",
    ),
    "a tab after spaces": (
        "clusters:\n  - name: demo\n    tags:\n  \t  a: x\n",
        "4:3",
        "a tab in the indentation",
        "use spaces",
    ),
    "too little indentation": (
        "clusters:\n  - name: demo\n   region: x\n",
        "3:4",
        "wrong indentation",
        "begin the line with 4 spaces instead of 3",
    ),
    "too much indentation": (
        "clusters:\n  - name: demo\n      region: x\n",
        "3:7",
        "wrong indentation",
        "begin the line with 4 spaces instead of 6",
    ),
    "an item with wrong indentation": (
        "clusters:\n  - name: demo\n    region: x\n - name: two\n",
        "4:2",
        "wrong indentation",
        "begin the line with 2 spaces instead of 1",
    ),
    "no space after a colon": (
        "clusters:\n  - name:demo\n    region: x\n",
        "2:9",
        "no space after the colon",
        "write `name: demo`",
    ),
    "no space after a later colon": (
        "clusters:\n  - name: demo\n    region:eu-north-1\n    account: x\n",
        "3:11",
        "no space after the colon",
        "write `region: eu-north-1`",
    ),
    "no space after the only colon of a section": (
        DEMO + "    karpenter:\n      version:1.2\n",
        "5:7",
        "wrong value for karpenter: 'version:1.2'",
        "write a space after the colon: `version: 1.2`",
    ),
    "an open quote": (
        'clusters:\n  - name: "demo\n    region: x\n',
        "2:11",
        "a quote that is not closed",
        "close it at the end of the value",
    ),
    "an open quote before others": (
        'clusters:\n  - name: "demo\n    region: "x"\n',
        "2:11",
        "a quote that is not closed",
        "close it at the end of the value",
    ),
    "an open single quote": (
        "clusters:\n  - name: 'demo\n    region: x\n    b: 'x'\n",
        "2:11",
        "a quote that is not closed",
        "close it at the end of the value",
    ),
    "text after a quote": (
        "clusters:\n  - name: demo\n    region: 'x'y\n",
        "3:16",
        "text after a closing quote",
        "put all of the value into one pair of quotes",
    ),
    "an open bracket": (
        "clusters:\n  - name: demo\n    subnets: [a, b\n    region: x\n",
        "3:14",
        "a [ that is not closed",
        "add ] at the end, or a comma between two items",
    ),
    "an open brace": (
        "clusters:\n  - name: demo\n    tags: {a: b\n    region: x\n",
        "3:11",
        "a { that is not closed",
        "add } at the end, or a comma between two items",
    ),
    "a value that begins with @": (
        "clusters:\n  - name: @demo\n",
        "2:11",
        "a value that begins with @",
        "put the value in quotes",
    ),
    "a value that is a star": (
        "clusters:\n  - name: *\n",
        "2:11",
        "a value that begins with *",
        "put the value in quotes",
    ),
    "a colon in a value": (
        "clusters:\n  - name: a: b\n",
        "2:11",
        "a second colon in a value",
        "put the value in quotes",
    ),
    "a template": (
        "clusters:\n  - name: {{ x }}\n",
        "2:12",
        "a list or map as a key",
        "put the value in quotes: `{{ … }}` and `[ … ]` are no text in YAML",
    ),
    "no space after a dash": (
        "clusters:\n  -name: demo\n   region: x\n",
        "2:3",
        "no space after the dash",
        "write `- name:`",
    ),
    "two documents": (
        "clusters:\n  - name: demo\n---\nclusters: []\n",
        "3:1",
        "a second YAML document begins here",
        "put all clusters below one `clusters:`, and remove the line `---`; or use one file per document",
    ),
    "a merge conflict": (
        "clusters:\n<<<<<<< HEAD\n  - name: demo\n=======\n  - name: x\n>>>>>>> b\n",
        "2:1",
        "an open merge conflict",
        "choose one of the two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>",
    ),
    "an unknown escape": (
        'a: "\\d"\n',
        "1:5",
        "an unknown escape",
        "use single quotes, or write \\\\ for a backslash",
    ),
    "an equals sign": (
        "clusters:\n  - name = demo\n    region: x\n",
        "2:10",
        "an equals sign after a key",
        "write `name: demo`",
    ),
    "no colon at the top": (
        "clusters\n  - name: demo\n",
        "1:1",
        "no colon after a key",
        "write `clusters:`",
    ),
    "no colon": (
        "clusters:\n  - name: demo\n    karpenter\n      version: x\n",
        "3:5",
        "no colon after a key",
        "write `karpenter:`",
    ),
    "a control character": (
        "a: \x07\n",
        "1:4",
        "a character that YAML does not allow: U+0007",
        "remove the character",
    ),
    "a tag of YAML": (
        "a: !x y\n",
        "1:4",
        "wrong value: '!x'",
        "remove !x",
    ),
}


def refused(text: str) -> SpecError:
    try:
        tree, layout = parse(text, FILE)
        resolve(tree, source=str(FILE), layout=layout)
    except SpecError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("case", MISTAKES)
def test_it_is_one_message_at_its_place_with_what_was_meant(case: str) -> None:
    text, place, problem, fix = MISTAKES[case]

    error = refused(text)

    (finding,) = error.findings
    assert finding.fix == fix
    assert str(error).splitlines()[0] == ":".join(filter(None, (str(FILE), place))) + f": {problem}"
    if place:
        assert str(error).splitlines()[1].startswith(f"{finding.line} | ")
        assert "^" in str(error).splitlines()[2]


def test_a_file_of_the_users_own_keys_and_anchors_is_right() -> None:
    tree, layout = parse("x-base: &base {region: eu-north-1}\nclusters:\n  - {<<: *base, name: demo}\n", FILE)

    ((_, installation),) = resolve(tree, source=str(FILE), layout=layout)

    assert installation.region == "eu-north-1"


def test_every_key_of_another_tool_leads_to_one_that_exists() -> None:
    known = {".".join((*section, key)) for section, keys in _all_sections() for key in keys}

    assert {right.partition(":")[0] for right in KEYS_OF_CLUSTERS.values()} <= known
    assert not (KEYS_OF_CLUSTERS.keys() | NOT_NEEDED.keys()) & {key.replace("_", "") for key in Cluster.model_fields}


@pytest.mark.parametrize("key", [*KEYS_OF_CLUSTERS, *NOT_NEEDED])
def test_no_suggestion_is_the_word_that_was_wrong(key: str) -> None:
    (finding,) = problems(**{key: "x"})

    assert finding.fix not in {f"write {key}", f"did you mean {key}?", f"move it to {key}"}


def test_the_same_mistake_in_many_clusters_is_one_message() -> None:
    error = refused("clusters:\n" + "".join(f"  - name: c{number}\n    regon: eu-north-1\n" for number in range(200)))

    assert str(error).splitlines() == [
        "clusters.yaml:3:5: unknown key: regon",
        "3 |     regon: eu-north-1",
        "  |     ^^^^^",
        "  path      clusters[0].regon",
        "  expected  a documented key",
        "  fix       did you mean region?",
        "  also in   199 other clusters: c1, c2, c3, c4, c5, …",
        "",
        "clusters.yaml: 200 problems",
    ]
    assert len(error.as_json()["findings"]) == 200


def test_other_mistakes_are_not_put_together() -> None:
    error = refused("clusters:\n  - {name: a, region: moon-1}\n  - {name: b, region: moon-2}\n")

    assert str(error).count("wrong value for region") == 2
    assert "also in" not in str(error)


@pytest.mark.parametrize(
    ("defaults", "place"),
    [
        ("region: eu-nrth-1", "2:11"),
        ("region: eu-north-1\n  backend: {type: s3, region: eu-north-1}", "3:3"),
        ("region: eu-north-1\n  karpenter: {replica: 3}", "3:15"),
    ],
    ids=["a value", "a key that is missing", "an unknown key"],
)
def test_a_mistake_in_the_defaults_is_shown_once_and_there(defaults: str, place: str) -> None:
    error = refused(f"defaults:\n  {defaults}\nclusters:\n  - name: a\n  - name: b\n")

    assert len(error.findings) == 1
    assert str(error).startswith(f"clusters.yaml:{place}: ")
    assert "  path      defaults." in str(error)


def test_the_first_of_two_equal_keys_is_shown_too() -> None:
    error = refused("clusters:\n  - name: demo\n    region: eu-north-1\n    name: other\n")

    assert str(error).splitlines()[:6] == [
        "clusters.yaml:4:5: duplicate key: name",
        "2 |   - name: demo",
        "  |     ---- the first one",
        "...",
        "4 |     name: other",
        "  |     ^^^^",
    ]


SECRETS = {
    "a key of a secret": "    backend:\n      type: cloud\n      organization: o\n      token: hunter2\n",
    "beside another mistake": "    backend: {type: s3, secret_key: hunter2, bucket: 3, region: eu-north-1}\n",
    "before another mistake": "    backend: {type: s3, bucket: 3, region: eu-north-1, secret_key: 'hunter2'}\n",
    "a password in an address": "    backend: {type: http, address: 'https://me:hunter2@example.com'}\n",
    "a misspelt key of a secret": "    provider: {secret_acces_key: hunter2}\n",
    "an unknown key with a secret below it": "    provder:\n      secret_key: hunter2\n",
    "a map that is wrong as a whole": "    backend: {type: s4, secret_key: hunter2}\n",
    "a list that is wrong as a whole": "    backend: [{secret_key: hunter2}]\n",
    "a quote that is not closed": "    backend:\n      type: http\n      password: 'hunter2\n",
    "no space after its colon": "    backend:\n      password:hunter2\n      type: http\n",
    "a text of several lines": "    backend:\n      bucket: b\n      type: gcs\n      credentials: |\n       {hunter2}",
    "twice": "    provider:\n      token: hunter2\n      token: hunter2\n",
    "a private key": "    backend: {type: http, address: 3, x: '-----BEGIN RSA PRIVATE KEY-----hunter2'}\n",
}


@pytest.mark.parametrize("case", SECRETS)
def test_no_secret_is_shown(case: str) -> None:
    error = refused(DEMO + SECRETS[case])

    assert "hunter2" in SECRETS[case]
    assert "hunter2" not in str(error)
    assert "hunter2" not in json.dumps(error.as_json())
    assert "hunter2" not in repr(error.findings)


def test_a_long_line_is_cut_around_the_place() -> None:
    subnets = ", ".join(["subnet-0123456789abcdef0"] * 20)
    error = refused(DEMO + f"    subnets: [{subnets}, 3, {subnets}]\n")

    for columns in (30, 60, 120):
        line, signs = error.shown(Screen(columns)).splitlines()[1:3]
        assert len(line) <= max(columns, 34)
        assert line[signs.index("^")] == "3"
        assert line.startswith("4 | …")
        assert line.endswith("…")


def test_what_acts_on_a_terminal_is_escaped_and_the_mark_stays_at_its_place() -> None:
    error = refused(DEMO + '    tags: {"日本": "\u202e", "\u00e9": 3}\n')

    line, signs = str(error).splitlines()[1:3]
    assert r"\u202e" in line
    # Two characters take two columns each.
    assert signs.index("^") == line.index("3}") + 2


def test_colours_are_only_for_a_terminal() -> None:
    error = refused(DEMO + "    regon: x\n")

    assert "\x1b" not in str(error)
    coloured = error.shown(Screen(100, has_colours=True))
    assert "\x1b[1;31m^^^^^\x1b[0m" in coloured
    assert "\x1b[1mclusters.yaml:4:5\x1b[0m" in coloured


def test_programs_get_every_part() -> None:
    error = refused(DEMO + "    account: 12\n    endpoint: .nan\n")

    first, second = error.as_json()["findings"]
    assert first == {
        "file": "clusters.yaml",
        "line": 4,
        "column": 14,
        "path": "clusters[0].account",
        "value": 12,
        "expected": "must be a quoted string",
        "fix": 'write "12", with the quotes',
    }
    assert (second["value"], json.loads(json.dumps(second))) == (".nan", second)


def test_without_a_file_there_is_no_excerpt() -> None:
    finding = Finding(("clusters", 0, "region"), "moon-1", "a region", "write one")

    assert str(SpecError("installation()", [finding])).splitlines() == [
        "installation(): clusters[0].region",
        "  value     'moon-1'",
        "  expected  a region",
        "  fix       write one",
        "",
        "installation(): 1 problem",
    ]
    assert finding.path[0] == CLUSTERS


@pytest.mark.parametrize("mark", [Mark(99, 1), Mark(1, 99), Mark(1, 1, 0)])
def test_a_mark_outside_of_its_text_does_no_harm(mark: Mark) -> None:
    finding = Finding((), "x", "y", "z", mark=mark)

    assert str(SpecError("file", [finding], texts={"file": "one line\n"}))


HUGE = 100_000


@pytest.mark.parametrize(
    "text",
    [
        DEMO + f"    endpoint: {'x' * HUGE}\n    regon: x\n",
        DEMO + f"    tags: {{a: {'token' * (HUGE // 5)}, b: 3}}\n",
        DEMO + f"    tags: {{a: '{'://:' * (HUGE // 4)}', b: 3}}\n",
        DEMO + f"    tags: {{{', '.join(f'k{number}: 3' for number in range(1500))}}}\n",
        DEMO + f"    a:{'b: ' * (HUGE // 3)}x\n  c\n",
        DEMO + f"    name:demo{' ' * HUGE}x\n    a: b\n",
        f"clusters:\n  - {'- ' * 40}{'x-' * (HUGE // 2)}: 'a\n",
        f"clusters: {'[' * 40}{'x: y, ' * 300}\n",
    ],
    ids=["a word", "parts of keys", "addresses", "many mistakes", "colons", "spaces", "dashes", "an open list"],
)
def test_a_long_line_takes_no_long_time(text: str) -> None:
    began = time.process_time()
    shown = str(refused(text))

    # A bound that cannot be missed by a busy machine: what looks back again and again takes minutes.
    assert time.process_time() - began < 30
    assert max(map(len, shown.splitlines())) < 1500
