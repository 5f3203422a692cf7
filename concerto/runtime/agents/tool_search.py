"""Tool search: an agent with many tools offers a search in their place, and then what the model has found.

Only what is offered changes: calls go the same way as always, so permissions, `allowed_tools` and labels of
trust hold as they do without it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concerto.json_data import Json
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.tools.toolbox import READ_SKILL, BoundTool, CallContext, Toolbox
from concerto.vm.values import Value

_FOUND_AT_ONCE = 5
_FAR_WORSE = 8
"""A tool that fits so many times worse than the best has nothing but a common word of the query."""
_WORD = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORTEST_STEM = 3
_DESCRIPTION = "Search the {count} tools that are not shown here. Those that fit can be called then."
_PARAMETERS: Json = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What the tool should do, in a few words"}},
    "required": ["query"],
}


class ToolSearch:
    """The search of one execution, for more than so many tools."""

    def __init__(self, limit: int, forced: str) -> None:
        self._limit = limit
        self._found = {forced: None} if forced else {}
        self._searched: list[ToolOffer] = []
        self.tool = BoundTool(ToolOffer("tool_search", "", _PARAMETERS), "tool_search", "", self._perform)

    def offers(self, toolbox: Toolbox, offered: tuple[ToolOffer, ...]) -> tuple[ToolOffer, ...]:
        """What a request offers: the search, what was found in this order, and what cannot be searched."""
        always = [each for each in offered if each.hosted or _is_shown(toolbox.tools[each.name])]
        self._searched = [each for each in offered if each not in always]
        if len(self._searched) <= self._limit:
            return offered
        by_name = {each.name: each for each in self._searched}
        found = [by_name[name] for name in self._found if name in by_name]
        return (self._offer(toolbox), *always, *found)

    def _offer(self, toolbox: Toolbox) -> ToolOffer:
        name = "tool_search"
        while name in toolbox.tools:
            name += "_"
        offer = ToolOffer(name, _DESCRIPTION.format(count=len(self._searched)), _PARAMETERS)
        if offer != self.tool.offer:
            self.tool = BoundTool(offer, "tool_search", "", self._perform)
        return self.tool.offer

    async def _perform(self, caller: CallContext, arguments: dict[str, Json]) -> Value:
        found = ranked(str(arguments["query"]), self._searched)[:_FOUND_AT_ONCE]
        self._found |= dict.fromkeys(each.name for each in found)
        if not found:
            return {"tools": [], "note": "no tool has these words; try others"}
        return {"tools": [{"name": each.name, "description": each.description} for each in found]}


def _is_shown(tool: BoundTool) -> bool:
    return tool.handoff != "" or tool.tool == READ_SKILL


def ranked(query: str, offers: Sequence[ToolOffer]) -> list[ToolOffer]:
    """The tools that have words of the query, the best first: rare words count for more, those of the name
    twice."""
    wanted = _words(query)
    texts = [(_words(each.name), _words(_told(each))) for each in offers]
    scores = [0.0] * len(offers)
    for word in wanted:
        having = [place for place, (name, told) in enumerate(texts) if word in name or word in told]
        for place in having:
            scores[place] += (2 if word in texts[place][0] else 1) / len(having)
    order = sorted(range(len(offers)), key=lambda place: -scores[place])
    least = max(scores, default=0.0) / _FAR_WORSE
    return [offers[place] for place in order if scores[place] > least]


def _told(offer: ToolOffer) -> str:
    properties = offer.parameters.get("properties") or {}
    parts = [f"{name} {each.get('description', '')}" for name, each in properties.items()]
    return " ".join([offer.description, *parts])


def _words(text: str) -> set[str]:
    """Words without the ends that plurals and the like have."""
    return {_stem(word) for word in _WORD.findall(_HUMP.sub(" ", text).lower())}


def _stem(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST_STEM:
        return word.removesuffix("ies") + "y"
    for end in ("ing", "es", "ed", "s", "e"):
        if word.endswith(end) and len(word) - len(end) >= _SHORTEST_STEM:
            return word.removesuffix(end)
    return word
