"""Problems of grammar (E0101–E0110)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnexpectedToken(Problem, code="E0101", title="unexpected token"):
    """The text does not follow the grammar at this point. The message names what could have stood
    there; the mistake is often just before it, such as a forgotten `;` or operator.

    ```concerto
    fn main() {
        let total = 1 + ;
        println(total);
    }
    ```

    ```concerto
    fn main() {
        let total = 1 + 2;
        println(total);
    }
    ```
    """


class UnclosedPair(Problem, code="E0102", title="a bracket is not closed"):
    """Every `(`, `[` and `{` needs its partner, in the right order. The message points to the one
    that was opened and never closed.

    ```concerto
    fn main() {
        println((1 + 2) * 3;
    }
    ```

    ```concerto
    fn main() {
        println((1 + 2) * 3);
    }
    ```
    """


class ReservedName(Problem, code="E0103", title="reserved word used as a name"):
    """A reserved word cannot name a variable, parameter, function or type. Fields, map keys and
    named arguments may have such names, because there the place makes them clear.

    ```concerto
    fn main() {
        let match = 3;
        println("done");
    }
    ```

    ```concerto
    fn main() {
        let matches = 3;
        println(matches);
    }
    ```
    """


class MisplacedStatement(Problem, code="E0104", title="statement or declaration out of place"):
    """A file holds declarations; what is to be done stands in functions, beginning with `main`. The
    other way round, `tool`, `agent`, `mcp` and their like are declared in a file, not in a function.

    ```concerto
    println("hello");
    ```

    ```concerto
    fn main() {
        println("hello");
    }
    ```
    """


class TooDeep(Problem, code="E0105", title="nested too deeply"):
    """Brackets and blocks may stand inside each other to a depth that no person writes. Such a file
    was generated or damaged; a generated one can name parts of its expressions with `let`.
    """


class NotSupported(Problem, code="E0109", title="not supported yet"):
    """The construct belongs to the language and is understood, but this version cannot run it. The
    message says what to write meanwhile, where there is something.
    """


class NoMain(Problem, code="E0110", title="no `main` function"):
    """A program starts at `fn main()` or `async fn main()`, without parameters, in the file that is
    run. A file without it can be compiled and used by others, but not run.

    ```concerto
    fn start() {
        println("hello");
    }
    ```

    ```concerto
    fn main() {
        println("hello");
    }
    ```
    """
