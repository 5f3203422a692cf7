"""The page of the features of requests, wire by wire."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.vocabulary.features import AUTOMATIC, FEATURES, WIRES, Feature
from docs.reference.markdown import joined, table

_INTRODUCTION = """\
What an agent may ask of its model, and where it stands in the request of each wire. A wire without a place
for it refuses it: the compiler says so (E0412) where it knows the provider of a connection, else the
execution ends with an `AgentError` of kind `Unsupported`, and nothing is sent."""


_BY_ITSELF = """\
What happens by itself on the wires that have it. The other servers keep the beginning of a conversation in
their caches without being told where it ends."""


def page() -> str:
    return joined("# Wires", _INTRODUCTION, _table(FEATURES.values()), _BY_ITSELF, _table(AUTOMATIC.values()))


def _table(features: Iterable[Feature]) -> str:
    rows = [
        [feature.meaning, *(f"`{feature.wires[wire]}`" if wire in feature.wires else "—" for wire in WIRES)]
        for feature in features
    ]
    return table(["feature", *WIRES.values()], rows)
