"""Closed types: of their values the author of the program wrote every one, so nobody else can invent any."""

from __future__ import annotations

from concerto.ir.module import ModuleIR


def is_closed(module: ModuleIR, index: int, seen: frozenset[int] = frozenset()) -> bool:
    """Bool, Nil, literal unions and enums without data, and what is made of a fixed number of these."""
    if index in seen:
        return False
    seen |= {index}
    definition = module.types[index]
    match definition.kind:
        case "builtin":
            return definition.name in ("Bool", "Nil", "Never")
        case "literals":
            return True
        case "result":
            return is_closed(module, definition.items[0], seen)
        case "option" | "tuple":
            return all(is_closed(module, item, seen) for item in definition.items)
        case "enum":
            payloads = [field.type for variant in definition.variants for field in variant.fields]
            return not payloads
        case "struct" | "schema":
            return bool(definition.fields) and all(
                is_closed(module, field.type, seen) for field in definition.fields
            )
        case _:
            return False
