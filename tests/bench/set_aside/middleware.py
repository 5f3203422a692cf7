from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass
class Request:
    path: str
    user: str | None
    size: int


@dataclass
class Response:
    status: int
    body: str


Handler = Callable[[Request], Response]


def guarded(inner: Handler, prefix: str = "/admin") -> Handler:
    def handle(request: Request) -> Response:
        if request.path.startswith(prefix) and request.user is None:
            return Response(401, "who are you?")
        return inner(request)

    return handle


def limited(inner: Handler, most: int = 1000) -> Handler:
    return lambda request: Response(413, "too large") if request.size > most else inner(request)


def shouting(inner: Handler, only: Callable[[Response], bool]) -> Handler:
    def handle(request: Request) -> Response:
        response = inner(request)
        return replace(response, body=response.body.upper()) if only(response) else response

    return handle


def routed(routes: dict[str, Handler], missing: int = 404) -> Handler:
    def handle(request: Request) -> Response:
        handler = routes.get(request.path)
        return Response(missing, f"no {request.path}") if handler is None else handler(request)

    return handle


def page(title: str, repeat: int = 1) -> Handler:
    def line(name: str) -> str:
        return f"{title} for {name}. "

    def handle(request: Request) -> Response:
        return Response(200, line("all" if request.user is None else request.user) * repeat)

    return handle


def work() -> str:
    routes = {"/": page("home"), "/admin": page("secrets", repeat=2), "/help": page("help", 3)}
    handler = shouting(limited(guarded(routed(routes)), most=500), lambda response: response.status >= 400)
    paths = ["/", "/admin", "/help", "/lost", "/admin/users"]
    counts: dict[int, int] = {}
    total = 0
    for i in range(6000):
        user = None if i % 3 == 0 else f"user {i % 50}"
        response = handler(Request(paths[i % 5], user, i * 7 % 520))
        counts[response.status] = counts.get(response.status, 0) + 1
        total += len(response.body)
        if response.body.startswith("NO"):
            total += 1
    return f"{counts} {total}"
