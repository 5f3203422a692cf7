"""Problems of characters and tokens (E0001–E0006)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnknownCharacter(Problem, code="E0001", title="a character that has no place in a program"):
    """Outside strings and comments a program is made of letters, digits, `_`, brackets and operators.
    Typographic quotes and dashes, which editors and chat programs like to insert, are the usual cause.

    ```concerto
    fn main() {
        println(6 × 7);
    }
    ```

    ```concerto
    fn main() {
        println(6 * 7);
    }
    ```
    """


class UnclosedString(Problem, code="E0002", title="a string is not closed"):
    """A string in single or double quotes ends on the line where it began. A text of several lines
    stands between triple quotes, or uses the escape for a line break.

    ```concerto
    fn main() {
        println("Good morning);
    }
    ```

    ```concerto
    fn main() {
        println("Good morning");
    }
    ```
    """


class BadNumber(Problem, code="E0003", title="not a number"):
    """A number has digits that do not fit its base, or an Int that does not fit into 64 bits
    (from -9223372036854775808 to 9223372036854775807). Larger numbers are written as Float.

    ```concerto
    fn main() {
        println(9_223_372_036_854_775_808);
    }
    ```

    ```concerto
    fn main() {
        println(9_223_372_036_854_775_808.0);
    }
    ```
    """


class BadEscape(Problem, code="E0004", title="unknown escape in a string"):
    r"""After a backslash a string knows `\\ \" \' \n \r \t \0 \$` and `\u{1F600}`. A raw string, `r"…"`,
    takes backslashes as they are: handy for regular expressions and Windows paths.

    ```concerto
    fn main() {
        println("\d+ files");
    }
    ```

    ```concerto
    fn main() {
        println(r"\d+ files");
    }
    ```
    """


class UnclosedComment(Problem, code="E0005", title="a comment is not closed"):
    """Comments between `/*` and `*/` nest, so every opening mark needs a closing one of its own.

    ```concerto
    fn main() {
        println("ready");
    }
    /* a remark /* and one inside it */
    ```

    ```concerto
    fn main() {
        println("ready");
    }
    /* a remark /* and one inside it */ */
    ```
    """


class BadInterpolation(Problem, code="E0006", title="broken interpolation"):
    r"""`${…}` in a string holds one expression. It must not be empty and needs its closing brace; a
    dollar sign before a brace that is meant as text is written `\$`.

    ```concerto
    fn main() {
        println("total: ${}");
    }
    ```

    ```concerto
    fn main() {
        println("total: ${1 + 2}");
    }
    ```
    """
