"""The examples with pipelines, hosts and approvals, as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.manifest import load_manifest
from concerto.program import Runtime
from concerto.vm.machine import Tier
from tests.harness.programs import TIERS

EXAMPLES = Path(__file__).parents[2] / "examples"
RESEARCH = """\
When did coffee come to Europe?
  Coffee came to Europe over Venice in the sixteenth century. (coffee)
  The first coffee house of London opened in 1652. (coffee)
What did London trade in coffee?
  The first coffee house of London opened in 1652. (coffee)
  Merchants met in coffee houses to trade and to read the news. (coffee)
When did tea come to Europe?
  Coffee came to Europe over Venice in the sixteenth century. (coffee)
  Tea reached Europe with Dutch ships in 1610. (tea)
What did London trade in tea?
  The tea trade of London grew when the tax on tea was lowered in 1784. (tea)
  The first coffee house of London opened in 1652. (coffee)
"""
SUPERVISED = """\
1 of 4
2 of 4
4 of 4
Booking { booked: 2920, refused: 1 }
asked: {"pay 2500 to Bob?": true, "pay 9000 to Eve?": false}
host `Clerk`: its process ended before it gave a result with status 1; it said: the ledger is on fire
1 of 1
Booking { booked: 1, refused: 0 }
"""


def output_of(name: str, tier: Tier, capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    folder = EXAMPLES / name
    manifest = folder / "Concerto.toml"
    runtime = Runtime(
        compile_file(folder / "main.conc"),
        manifest=load_manifest(manifest) if manifest.exists() else None,
        folder=folder,
        tier=tier,
        echo=True,
        quiet=True,
        **options,
    )
    capsys.readouterr()
    status = runtime.run().status
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    ("name", "output"), [("research_pipeline", RESEARCH), ("supervised_worker", SUPERVISED)]
)
def test_real_processes_work_for_a_program(
    name: str, output: str, tier: Tier, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output_of(name, tier, capsys) == output


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "not paid: nobody answers `approval`"),
        ({"ok": True}, "paid 250 to Ann, 330 in all"),
        ({"ok": True, "amount": 200}, "paid 200 to Ann, 280 in all"),
        ({"ok": False}, "not paid: a person refused to pay 250 to Ann"),
        (3, "not paid: the answer is no approval: expected `Approval`, found `Int`"),
    ],
)
def test_a_gate_that_a_human_opens(
    answer: Any, said: str, tier: Tier, capsys: pytest.CaptureFixture[str]
) -> None:
    handlers = {} if answer is None else {"approval": lambda request: answer}
    lines = output_of("approval_gate", tier, capsys, handlers=handlers, environment={}).splitlines()
    assert lines == [
        "paid 80 to Bob, 80 in all",
        '[emit:approval] Request { to: "Ann", amount: 250 }',
        said,
    ]
