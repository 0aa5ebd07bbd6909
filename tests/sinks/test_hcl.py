"""A quoted string of HCL is the text itself to Terraform."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.sinks.hcl import quoted
from tests.sinks.nasty import TEXTS
from tests.sinks.readers import evaluated_hcl, terraform_needed

# Not accepted in a file; the quoting does not rely on that.
MORE = ("\x01\x1b\x7f", "\U000e0001", 'x"] == "" if ["', '${file("/etc/hostname")}')


@terraform_needed
@pytest.mark.terraform
def test_terraform_reads_what_was_quoted(tmp_path: Path) -> None:
    texts = [*TEXTS, *MORE]

    assert evaluated_hcl(f"[{', '.join(map(quoted, texts))}]", tmp_path) == texts


@pytest.mark.parametrize("text", [*TEXTS, *MORE])
def test_a_quoted_string_is_one_printable_line(text: str) -> None:
    assert quoted(text).isprintable()
