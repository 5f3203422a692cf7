"""Runs that a client began: what they are called, and who goes on with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from concerto.json_data import Json

CALL_PREFIX = "wait_"


def waiting_call(run: str, effect: str) -> str:
    """The id of the call by which a client is asked what an effect waits for."""
    return f"{CALL_PREFIX}{run}_{effect}"


def title_of_entry(entry: Mapping[str, Json]) -> str:
    """What messages call what a client has asked for."""
    if "agent" in entry:
        return f"a client's request to the agent `{entry['agent']}`"
    return f"an MCP client's call of `{entry['tool']}`"


def goes_on_where_served(
    run: str, entry: Mapping[str, Json] | None, waiting: Sequence[Mapping[str, Json]], *, unknown: bool
) -> str:
    """Who goes on with a run, if only the client who began it may say what it waits for; empty if anybody
    may. Of a run that ended as `unknown` others decide."""
    asked = [each["effect"] for each in waiting if each["kind"] in ("call", "emit")]
    if entry and "agent" in entry and asked:
        advice = f"send the output of the call `{waiting_call(run, asked[0])}` to the server"
    elif entry and "tool" in entry and not unknown:
        advice = "start the server again, which does so by itself"
    else:
        return ""
    return f"run `{run}` is {title_of_entry(entry)}, and goes on where that is served: {advice}"
