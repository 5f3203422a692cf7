from dataclasses import dataclass


@dataclass
class Request:
    host: str
    method: str
    path: str
    status: int
    bytes: int


def parse(line: str) -> Request | None:
    open = line.find('"')
    if open < 0:
        return None
    rest = line[open + 1 :]
    close = rest.find('"')
    if close < 0:
        return None
    asked = rest[:close].split(" ")
    answer = rest[close + 1 :].split()
    host = line.split(" ")[0]
    if len(asked) < 2 or len(answer) < 2:
        return None
    try:
        status = int(answer[0])
    except ValueError:
        return None
    try:
        size = int(answer[1])
    except ValueError:
        size = 0
    return Request(host, asked[0], asked[1], status, size)


def work() -> str:
    methods = ["GET", "POST", "GET", "PUT"]
    lines = []
    for i in range(6000):
        if i % 40 == 0:
            lines.append(f"10.0.0.{i % 9} garbage")
        else:
            status = 404 if i % 13 == 0 else 200
            lines.append(
                f'10.0.0.{i % 9} - - "{methods[i % 4]} /page/{i % 21}?q={i} HTTP/1.1" {status} {i * 3}'
            )
    by_path: dict[str, int] = {}
    by_host: dict[str, int] = {}
    errors = 0
    skipped = 0
    for line in lines:
        request = parse(line)
        if request is None:
            skipped += 1
            continue
        if request.status >= 400:
            errors += 1
        path = request.path.split("?")[0]
        by_path[path] = by_path.get(path, 0) + 1
        if request.method == "GET":
            by_host[request.host] = by_host.get(request.host, 0) + request.bytes
    top = sorted(by_path.items(), key=lambda entry: (-entry[1], entry[0]))[0]
    most = max(by_host.values(), default=0)
    return f"{top[0]} {top[1]} {most} {errors} {skipped}"
