"""The page of the features of requests, wire by wire."""

from __future__ import annotations

from concerto.vocabulary.features import FEATURES, WIRES
from docs.reference.markdown import joined, table

_INTRODUCTION = """\
What an agent may ask of its model, and where it stands in the request of each wire. A wire without a place
for it refuses it: the compiler says so (E0412) where it knows the provider of a connection, else the
execution ends with an `AgentError` of kind `Unsupported`, and nothing is sent."""


def page() -> str:
    rows = [
        [feature.meaning, *(f"`{feature.wires[wire]}`" if wire in feature.wires else "—" for wire in WIRES)]
        for feature in FEATURES.values()
    ]
    return joined("# Wires", _INTRODUCTION, table(["feature", *WIRES.values()], rows))
