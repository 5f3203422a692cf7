"""The diagnostic: what is wrong with a program, as data.

A `Problem` subclass exists for every code. The subclass is the single place where a code, its title
and its explanation (the docstring: prose, a wrong program, a right program) are written; what
happened in one program is in the fields of an instance. Nothing here prints or reads files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from concerto.annotating import TYPE_CHECKING, ClassVar, Literal, TypeAlias
from concerto.records import field, record, replace

if TYPE_CHECKING:
    from concerto.diagnostics.fixes import Edit
    from concerto.source import Source, Span

Severity: TypeAlias = 'Literal["error", "warning"]'

_CLASSES: dict[str, type[Problem]] = {}

# One mistake may be seen from several sides; more than this many at one place helps nobody.
_MOST_AT_ONE_PLACE = 3

# Names that are looked at for "did you mean", for all findings of a compilation.
_MOST_COMPARED = 20_000

_Place: TypeAlias = tuple[str, str, int, int]


@record(frozen=True, slots=False)
class Problem:
    """One finding: `span` is the place, `message` the fact, `label` a few words under the caret,
    `help` what to do, `notes` background, `related` other places with a label each. `edits` do what `help`
    says, if it does not say so itself: `fix` has what can be applied."""

    code: ClassVar[str]
    title: ClassVar[str]
    severity: ClassVar[Severity]

    span: Span
    message: str
    label: str = field(default="", kw_only=True)
    help: str = field(default="", kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    related: tuple[tuple[Span, str], ...] = field(default=(), kw_only=True)
    edits: tuple[Edit, ...] = field(default=(), kw_only=True)

    @property
    def file(self) -> str:
        return self.span.source.path

    @property
    def line(self) -> int:
        return self.span.source.line_column(self.span.start)[0]

    @property
    def column(self) -> int:
        return self.span.source.line_column(self.span.start)[1]

    @property
    def end_line(self) -> int:
        return self.span.source.line_column(self.span.end)[0]

    @property
    def end_column(self) -> int:
        return self.span.source.line_column(self.span.end)[1]

    @property
    def fix(self) -> tuple[Edit, ...]:
        """The changes of texts that mend it; none, if that takes a person."""
        from concerto.diagnostics.fixes import edits_of

        return self.edits or edits_of(self.span, self.help)

    def moved(self, source: Source, behind: int, by: int) -> Problem:
        """The same in a text in which all that stood behind a place was moved."""
        from concerto.diagnostics.fixes import Edit

        return replace(
            self,
            span=self.span.moved(source, behind, by),
            related=tuple([(span.moved(source, behind, by), label) for span, label in self.related]),
            edits=tuple([Edit(edit.span.moved(source, behind, by), edit.text) for edit in self.edits]),
        )

    def __init_subclass__(cls, *, code: str, title: str) -> None:
        assert code not in _CLASSES, f"two diagnostic classes have the code {code}"
        cls.code = code
        cls.title = title
        cls.severity = "warning" if code.startswith("W") else "error"
        _CLASSES[code] = cls


class Problems:
    """The findings of one compilation, in source order, files in the order first met."""

    def __init__(self) -> None:
        self._found: list[Problem] = []
        self._seen: set[tuple[_Place, str]] = set()
        self._at_place: Counter[_Place] = Counter()
        self._files: dict[str, int] = {}
        self._errors = False
        self.compared = 0
        """How many names were looked at for advice."""

    def nearest(self, name: str, candidates: Collection[str]) -> str | None:
        """As `suggest`, until all findings together have asked for too much: who reads of hundreds of
        mistakes begins with the first."""
        from concerto.diagnostics.suggestions import suggest

        self.compared += len(candidates)
        return suggest(name, candidates) if self.compared <= _MOST_COMPARED else None

    def add(self, problem: Problem) -> None:
        """Keeps a finding, unless it repeats one or its place has been spoken of often enough."""
        span = problem.span
        # By its path: two programs may each have read a file that both use.
        place = (problem.code, span.source.path, span.start, span.end)
        identity = (place, problem.message)
        if identity in self._seen or self._at_place[place] >= _MOST_AT_ONE_PLACE:
            return
        self._seen.add(identity)
        self._at_place[place] += 1
        self._files.setdefault(span.source.path, len(self._files))
        self._found.append(problem)
        self._errors = self._errors or problem.severity == "error"

    def add_all(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.add(problem)

    def without_warnings(self) -> Problems:
        errors = Problems()
        errors.add_all(problem for problem in self._found if problem.severity == "error")
        return errors

    def moved(self, source: Source, behind: int, by: int) -> Problems:
        """The same findings in a text in which all that stood behind a place was moved."""
        moved = Problems()
        moved.compared = self.compared
        for problem in self._found:
            moved.add(problem.moved(source, behind, by))
        return moved

    @property
    def errors(self) -> bool:
        """Whether anything was found that forbids to run the program."""
        return self._errors

    def __iter__(self) -> Iterator[Problem]:
        return iter(sorted(self._found, key=self._order))

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, place: int) -> Problem:
        return list(self)[place]

    def _order(self, problem: Problem) -> tuple[int, int, int, str]:
        span = problem.span
        return (self._files[span.source.path], span.start, span.end, problem.code)


def problem_classes() -> dict[str, type[Problem]]:
    """The diagnostic classes that are loaded by their codes, in order of these."""
    return dict(sorted(_CLASSES.items()))
