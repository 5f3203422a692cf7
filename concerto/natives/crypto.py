"""`std::crypto`: digests and random bytes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from uuid import UUID

from concerto.effects.kinds import Random
from concerto.natives import limits
from concerto.vm.native import native
from concerto.vm.values import failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

MAX_BYTES = 1 << 20


@native("std::crypto::sha256")
def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@native("std::crypto::md5")
def md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


@native("std::crypto::uuid", machine=True)
def uuid(machine: Machine) -> str:
    return str(UUID(bytes=machine.host.perform(Random(16)), version=4))


@native("std::crypto::random_bytes", machine=True)
def random_bytes(machine: Machine, number: int) -> list[int]:
    if limits.count(number, "a number of bytes") > MAX_BYTES:
        raise failure(f"at most {MAX_BYTES} random bytes at once, found {number}", "ValueError")
    return list(machine.host.perform(Random(number)))
