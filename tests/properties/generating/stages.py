"""Functions that call themselves, and pipelines."""

from __future__ import annotations

from dataclasses import replace

from tests.properties.generating import items
from tests.properties.generating.kinds import INT, STRING, Kind, result
from tests.properties.generating.maker import Callee, Maker, Variable

# What a call from within counts as: few stand in one body.
_AGAIN = 90


def recursive(maker: Maker, name: str) -> str:
    """It calls itself at some places, until a number that nobody else knows is used up."""
    fuel = maker.fresh("depth")
    parameter = Variable(maker.fresh("a"), maker.kind())
    result_ = maker.kind()
    inner = Callee(name, (parameter.kind,), result_, cost=_AGAIN, first=f"{fuel} - 1")
    last = items.without_choice(maker, result_)
    maker.callees += [inner] * 3
    text, _ = items.body(maker, [parameter], result_, 16)
    maker.callees = [callee for callee in maker.callees if callee is not inner]
    maker.callees.append(replace(inner, first=maker.random.choice("123")))
    head = f"pub fn {name}({fuel}: Int, {items.parameter_list([parameter])}) -> {result_}"
    return f"{head} {{ if {fuel} <= 0 {{ return {last}; }} {text[1:]}"


def pipeline(maker: Maker, name: str) -> str:
    """Stages, some of which may fail with a String."""
    given = [Variable(maker.fresh("a"), maker.kind()) for _ in range(maker.random.choice((1, 1, 2)))]
    first, cost, stages, failing = given, 0, [], False
    for number in range(maker.random.randint(1, 3)):
        result_, may_fail = _plain(maker), maker.chance(0.6)
        shown = result(result_) if may_fail else result_
        text, more = items.body(maker, list(given), shown, 10)
        stages.append(f"stage s{number}({items.parameter_list(given)}) -> {shown} {text}")
        given, cost, failing = [Variable(maker.fresh("a"), result_)], cost + more, failing or may_fail
    error = STRING if failing else Kind("AgentError")
    kinds = tuple(parameter.kind for parameter in first)
    maker.callees.append(Callee(f"{name}.run", kinds, result(given[0].kind, error), cost=cost))
    return f"pub pipeline {name}({items.parameter_list(first)}) -> {given[0].kind} {{ {' '.join(stages)} }}"


def _plain(maker: Maker) -> Kind:
    """A stage that gives a Result passes on what it holds."""
    kind = maker.kind()
    return INT if kind.name == "Result" else kind
