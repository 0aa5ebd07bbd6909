"""A number without quotes gets the advice to write what the file has, wherever it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.finding import SpecError
from nodeless.spec.resolution import load

FILE = """\
defaults:
  kubernetes: 1.30
clusters:
  - name: one
    region: eu-north-1
    account: 012345678901
    karpenter: &karpenter {version: 1.10}
  - name: two
    region: eu-north-1
    karpenter:
      <<: *karpenter
      replicas: 1
  - name: three
    region: eu-north-1
    kubernetes: 1.3e1
    karpenter: {version: 1.20, tables: 1.10}
    tags: {a: 1.50, b: 007, c: 0x1F, d: true, e: 1_0}
"""


def test_the_advice_is_the_text_of_the_file_in_quotes(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(FILE, encoding="utf-8")

    with pytest.raises(SpecError) as error:
        load(file)

    assert {(finding.where(), finding.line): finding.fix.split(",")[0] for finding in error.value.findings} == {
        ("defaults.kubernetes", 2): 'write "1.30"',
        ("clusters[0].account", 6): 'write "012345678901"',
        ("clusters[0].karpenter.version", 7): 'write "1.10"',
        ("clusters[1].karpenter.version", 7): 'write "1.10"',
        ("clusters[2].kubernetes", 15): 'write "1.3e1"',
        ("clusters[2].karpenter.version", 16): 'write "1.20"',
        ("clusters[2].karpenter.tables", 16): 'write "1.10"',
        ("clusters[2].tags.a", 17): 'write "1.50"',
        ("clusters[2].tags.b", 17): 'write "007"',
        ("clusters[2].tags.c", 17): 'write "0x1F"',
        ("clusters[2].tags.d", 17): 'write "true"',
    }
