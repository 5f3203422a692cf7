"""`std::http`: requests to servers. Which hosts are allowed is the gate's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.kinds import Http
from concerto.natives.json import stringify
from concerto.vm.native import native
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::http::get", machine=True)
def get(machine: Machine, url: str, headers: dict[str, str]) -> Value:
    return request(machine, "GET", url, "", headers, 0)


@native("std::http::post", machine=True)
def post(machine: Machine, url: str, body: Value, headers: dict[str, str]) -> Value:
    return request(machine, "POST", url, body, headers, 0)


@native("std::http::put", machine=True)
def put(machine: Machine, url: str, body: Value, headers: dict[str, str]) -> Value:
    return request(machine, "PUT", url, body, headers, 0)


@native("std::http::delete", machine=True)
def delete(machine: Machine, url: str, headers: dict[str, str]) -> Value:
    return request(machine, "DELETE", url, "", headers, 0)


@native("std::http::request", machine=True)
def request(
    machine: Machine, method: str, url: str, body: Value, headers: dict[str, str], timeout_ms: int
) -> Value:
    if not isinstance(body, str):
        body = stringify(body)
        if "content-type" not in {name.lower() for name in headers}:
            headers = headers | {"Content-Type": "application/json"}
    effect = Http(method.upper(), url, headers, body, timeout_ms if timeout_ms > 0 else None)
    try:
        answer = machine.host.perform(effect)
    except Raised as raised:
        error = raised.value
        if isinstance(error, ErrorValue) and error.type_name == "ConnectionError":
            return Err(error)
        raise
    return Ok(machine.struct("HttpResponse", **answer))
