from dataclasses import dataclass


@dataclass
class Traffic:
    flights: int
    seats: int
    latest: int


def work() -> str:
    airports = ["BER", "FRA", "MUC", "HAM", "CGN", "STR"]
    traffic: dict[tuple[str, str], Traffic] = {}
    for i in range(8000):
        origin = airports[i * 5 % 6]
        to = airports[(i * i + 1) % 6]
        if origin == to:
            continue
        seats = 80 + i % 120
        known = traffic.get((origin, to))
        if known is None:
            traffic[origin, to] = Traffic(1, seats, i)
        else:
            traffic[origin, to] = Traffic(known.flights + 1, known.seats + seats, i)
    departures: dict[str, int] = {}
    for (origin, _), found in traffic.items():
        departures[origin] = departures.get(origin, 0) + found.seats
    lines = []
    for (origin, to), found in traffic.items():
        if (to, origin) in traffic:
            lines.append(f"{origin}-{to} {found.flights}/{found.latest}")
    most = max(departures.values(), default=None)
    shown = "None" if most is None else f"Some({most})"
    return f"{', '.join(sorted(lines))} {departures.get('BER', 0)} {shown}"
