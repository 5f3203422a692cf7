"""Problems of types and control flow (E0301–E0308)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class MismatchedTypes(Problem, code="E0301", title="type mismatch"):
    """An expression has one type and its place asks for another. Only Int to Float, String to Prompt
    and T to Option<T> convert by themselves; everything else is said with a method or `as`.

    ```concerto
    fn main() {
        let count: Int = "three";
        println(count);
    }
    ```

    ```concerto
    fn main() {
        let count: Int = "3".parse_int().unwrap_or(0);
        println(count);
    }
    ```
    """


class WrongArguments(Problem, code="E0302", title="wrong number or name of arguments"):
    """A call passes too few or too many arguments, one that the function does not know, or one twice;
    or a struct literal leaves out a field without a default.

    ```concerto
    fn area(width: Int, height: Int) -> Int { width * height }

    fn main() {
        println(area(3));
    }
    ```

    ```concerto
    fn area(width: Int, height: Int) -> Int { width * height }

    fn main() {
        println(area(3, height: 4));
    }
    ```
    """


class BadOperands(Problem, code="E0303", title="operator not defined for these types"):
    """The operator has no meaning for the types on its sides. Numbers are turned into text by
    interpolation or `to_string()`; `&&`, `||` and `!` are for Bool alone.

    ```concerto
    fn main() {
        println("total: " + 3);
    }
    ```

    ```concerto
    fn main() {
        println("total: ${3}");
    }
    ```
    """


class BadFormat(Problem, code="E0309", title="no such format for this type"):
    """In `${value:format}`, the format is one of Python's for numbers and text: fill and alignment, sign,
    width, thousands, precision and a letter. Only Int, Float and String have formats. A precision alone on
    a Float means decimals.

    ```concerto
    fn main() {
        let count = 3;
        println("${count:.2}");
    }
    ```

    ```concerto
    fn main() {
        let count = 3;
        println("${count:>4} at ${2.5:.2}"); // `   3 at 2.50`
    }
    ```
    """


class NotExhaustive(Problem, code="E0304", title="`match` is not exhaustive"):
    """A `match` must say what happens for every value its subject can have. The message names a case
    that no arm takes; `_` takes all that is left. An arm with a guard does not count.

    ```concerto
    enum Light { Red, Amber, Green }

    fn main() {
        let light = Light::Green;
        println(match light {
            Light::Red => "stop",
            Light::Green => "go",
        });
    }
    ```

    ```concerto
    enum Light { Red, Amber, Green }

    fn main() {
        let light = Light::Green;
        println(match light {
            Light::Red => "stop",
            Light::Green => "go",
            Light::Amber => "wait",
        });
    }
    ```
    """


class ConditionNotBool(Problem, code="E0305", title="condition is not Bool"):
    """`if`, `while` and match guards ask for a Bool. Numbers, strings and collections are not true or
    false by themselves; say what is meant.

    ```concerto
    fn main() {
        let names = ["Ada"];
        if names.len() {
            println("somebody is here");
        }
    }
    ```

    ```concerto
    fn main() {
        let names = ["Ada"];
        if !names.is_empty() {
            println("somebody is here");
        }
    }
    ```
    """


class TraitNotSatisfied(Problem, code="E0306", title="trait not satisfied"):
    """A type is used where a trait is asked for and does not implement it, or an `impl` leaves out
    a required method of its trait or gives it another signature.

    ```concerto
    trait Greet { fn greet(self) -> String; }
    struct Robot { name: String }
    impl Greet for Robot {}

    fn main() {
        println(Robot { name: "R2" }.name);
    }
    ```

    ```concerto
    trait Greet { fn greet(self) -> String; }
    struct Robot { name: String }
    impl Greet for Robot {
        fn greet(self) -> String { "beep, ${self.name}" }
    }

    fn main() {
        println(Robot { name: "R2" }.greet());
    }
    ```
    """


class Misplaced(Problem, code="E0307", title="`?`, `return`, `break`, `continue` or `throw` out of place"):
    """`break` and `continue` belong into loops (a label names which), `return` and `throw` into functions,
    and `?` goes after a Result or Option, in a function that returns such a value. From a branch of
    `await (…)`, `race` or `parallel for`, `?` and `throw` leave the whole expression, jumps do not. In a
    stage, an error ends the pipeline, whatever the stage gives.

    ```concerto
    fn main() {
        if 1 < 2 {
            break;
        }
    }
    ```

    ```concerto
    fn main() {
        loop {
            if 1 < 2 {
                break;
            }
        }
    }
    ```
    """


class MissingReturn(Problem, code="E0308", title="missing return value"):
    """A function that promises a value must give one on every path. The last expression of its body
    is the value if no `;` follows it.

    ```concerto
    fn double(n: Int) -> Int {
        n * 2;
    }

    fn main() {
        println(double(4));
    }
    ```

    ```concerto
    fn double(n: Int) -> Int {
        n * 2
    }

    fn main() {
        println(double(4));
    }
    ```
    """
