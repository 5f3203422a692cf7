"""The client that the conformance suite starts, with the address of its server: a program of ours."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from concerto import Runtime, compile_file
from concerto.manifest.models import Manifest

PROGRAM = Path(__file__).with_name("conformance_client.conc")
CLIENT_METADATA = "https://conformance-test.local/client-metadata.json"


def main(url: str) -> int:
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with TemporaryDirectory() as state:
        os.environ |= {
            "SUITE_URL": url,
            "SUITE_SECRET": given.get("client_secret", ""),
            "CONCERTO_STATE": state,
            "BROWSER": "curl -sL -o /dev/null %s",  # The person agrees to everything.
        }
        settings = {"oauth": oauth(scenario, given)} if scenario.startswith("auth/") else {}
        runtime = Runtime(
            compile_file(PROGRAM),
            manifest=Manifest.model_validate({"mcp": {"Suite": settings}}) if settings else None,
            args=[scenario],
            handlers={"mcp:elicit": lambda asked: {"action": "accept", "content": {}}},
        )
        result = runtime.run()
    print(result.error or "", file=sys.stderr)
    return int(not result.ok)


def oauth(scenario: str, given: dict[str, str]) -> dict[str, str]:
    settings = {}
    if "client_id" in given:
        settings["client_id"] = given["client_id"]
    if "client_secret" in given:
        settings["client_secret_env"] = "SUITE_SECRET"
    if "client-credentials" in scenario:
        settings["grant"] = "client_credentials"
    if scenario == "auth/basic-cimd":
        settings["client_metadata_url"] = CLIENT_METADATA
    return settings


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
