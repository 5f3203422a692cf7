"""What is allowed but probably not meant (W0001–W0008)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnusedName(Problem, code="W0001", title="unused name"):
    """A variable is never read. If that is meant, let its name begin with `_`.

    ```concerto
    fn main() {
        let total = 1 + 2;
        println("done");
    }
    ```

    ```concerto
    fn main() {
        let total = 1 + 2;
        println("done: ${total}");
    }
    ```
    """


class UnusedImport(Problem, code="W0002", title="unused import"):
    """A `use` brings in a name that nothing in the file needs. `pub use` passes a name on and counts
    as a use of it.

    ```concerto
    use std::math;

    fn main() {
        println("done");
    }
    ```

    ```concerto
    fn main() {
        println("done");
    }
    ```
    """


class UnreachableArm(Problem, code="W0003", title="match arm that is never reached"):
    """The arms before this one already take every value that it would match.

    ```concerto
    fn main() {
        println(match 3 {
            _ => "some number",
            3 => "three",
        });
    }
    ```

    ```concerto
    fn main() {
        println(match 3 {
            3 => "three",
            _ => "some number",
        });
    }
    ```
    """


class StrayDoc(Problem, code="W0004", title="doc comment that documents nothing"):
    """A `///` comment describes the declaration, field or variant after it. Here nothing follows that
    could be documented; an ordinary remark begins with two slashes.

    ```concerto
    fn main() {
        println("done");
        /// the end
    }
    ```

    ```concerto
    fn main() {
        println("done");
        // the end
    }
    ```
    """


class UnreachableCode(Problem, code="W0005", title="code that is never reached"):
    """What stands before always leaves: by `return`, `break`, `continue`, `throw` or `panic`.

    ```concerto
    fn main() {
        println("done");
        return;
        println("really done");
    }
    ```

    ```concerto
    fn main() {
        println("done");
        println("really done");
    }
    ```
    """


class UnusedValue(Problem, code="W0006", title="value that is not used"):
    """A statement makes a value that must not get lost, and nothing keeps it. That is the value of a
    method of a built-in type that changes nothing: `sort`, `reverse`, `concat`, `to_upper` and their like
    leave what they are called on as it was. It is a `Result`, whose error nobody would hear of: pass it on
    with `?`, look at it, or say with `let _ = …;` that it does not matter. It is an agent that was only
    prepared, as by `A.with_system("…")`, without `.execute(…)` at the end, and an iterator, whose `map` does
    nothing until something goes through it. And it is what a statement like `n == 3;` only computes.

    ```concerto
    fn main() {
        let numbers = [2, 3, 1];
        numbers.sort();
        println(numbers);
    }
    ```

    ```concerto
    fn main() {
        let numbers = [2, 3, 1].sort();
        println(numbers);
    }
    ```
    """


class LostChange(Problem, code="W0007", title="change that is lost"):
    """What is changed is a copy that nobody reads. Everything is a value: a variable that a pattern binds,
    in `for mut item in items`, `if let Some(mut x) = place` or `match`, is a copy of what is there, as is
    one that `let mut` makes of another, and what `first()`, `get(key)` or `unwrap()` gives.

    What is in an array or a map is changed in its place, `items[i].count += 1` or `prices[key] = 3`; what is
    in an Option or another enum is taken out and put back.

    ```concerto
    struct Item {
        count: Int,
    }

    fn main() {
        let items = [Item { count: 1 }, Item { count: 2 }];
        for mut item in items {
            item.count += 1;
        }
        println(items);
    }
    ```

    ```concerto
    struct Item {
        count: Int,
    }

    fn main() {
        let mut items = [Item { count: 1 }, Item { count: 2 }];
        for i in 0..items.len() {
            items[i].count += 1;
        }
        println(items);
    }
    ```
    """


class AlwaysMatches(Problem, code="W0008", title="condition whose pattern always matches"):
    """The pattern of an `if let` or `while let` takes every value, so that the branch is always taken and the
    loop never ends by itself. What is in an Option is bound by `Some(x)`.

    ```concerto
    fn main() {
        let found = [1, 2].first();
        if let first = found {
            println(first);
        }
    }
    ```

    ```concerto
    fn main() {
        let found = [1, 2].first();
        if let Some(first) = found {
            println(first);
        }
    }
    ```
    """
