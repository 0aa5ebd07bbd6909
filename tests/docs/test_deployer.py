"""The page on the deployer's policy names every statement and every document that there is."""

from __future__ import annotations

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.resolved.deployer_rows import APPLY, PLAN, ROWS
from tests.docs.markdown import ROOT, code, rows, section, text_of

PAGE = ROOT / "docs" / "deployer.md"


def test_the_table_has_the_statements_of_every_type() -> None:
    shown = {
        code(kind)[0]: (code(plan), code(apply))
        for kind, plan, apply in rows(section(PAGE, "What the statements are for"))
    }

    kinds = {kind for row in ROWS for kind in row.kinds if not kind.startswith("backend.")}
    assert shown == {
        kind: tuple([row.sid for row in ROWS if kind in row.kinds and row.part == part] for part in (PLAN, APPLY))
        for kind in kinds
    }


def test_every_document_is_described() -> None:
    shown = [code(row[0])[0] for row in rows(text_of(PAGE)) if len(row) == 2]

    assert shown == list(dict.fromkeys(row.part for row in ROWS))
    assert f"{MANAGED_POLICY_LIMIT:,} characters" in text_of(PAGE)
