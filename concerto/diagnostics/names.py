"""Problems of names, bindings and assignment (E0201–E0207)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnknownName(Problem, code="E0201", title="unknown name"):
    """Nothing with this name can be seen here. A variable is visible from its `let` to the end of its
    block; a name of another file needs a `use`.

    ```concerto
    fn main() {
        let total = 3;
        println(totl + total);
    }
    ```

    ```concerto
    fn main() {
        let total = 3;
        println(total + total);
    }
    ```
    """


class UnknownType(Problem, code="E0202", title="unknown type"):
    """No type of this name is built in, declared in the file or brought in by `use`. Built-in types
    are written with a capital: `Int`, `String`, `Array<T>`. The same is said of a type that is defined by
    itself without an end, as `struct Ring { next: Ring }`: no value of it could ever be made. It may hold
    itself where it can also hold nothing, in an `Option`, an `Array` or a `Map`.

    ```concerto
    fn double(n: int) -> Int {
        2 * 2
    }

    fn main() {
        println(double(2));
    }
    ```

    ```concerto
    fn double(n: Int) -> Int {
        2 * n
    }

    fn main() {
        println(double(2));
    }
    ```
    """


class DefinedTwice(Problem, code="E0203", title="defined twice"):
    """Two declarations in one scope have the same name, and nobody could say which is meant. A `let`
    may repeat a name on purpose: the later one hides the earlier.

    ```concerto
    fn area(side: Int) -> Int { side * side }
    fn area(width: Int, height: Int) -> Int { width * height }

    fn main() {
        println("ready");
    }
    ```

    ```concerto
    fn square_area(side: Int) -> Int { side * side }
    fn area(width: Int, height: Int) -> Int { width * height }

    fn main() {
        println(square_area(2) + area(2, 3));
    }
    ```
    """


class UnknownMember(Problem, code="E0204", title="unknown field, method or variant"):
    """The type of the value has no field or method of this name, or the enum no such variant.

    ```concerto
    struct Point { x: Int, y: Int }

    fn main() {
        let p = Point { x: 1, y: 2 };
        println(p.z);
    }
    ```

    ```concerto
    struct Point { x: Int, y: Int }

    fn main() {
        let p = Point { x: 1, y: 2 };
        println(p.y);
    }
    ```
    """


class ImmutableChange(Problem, code="E0205", title="change of an immutable binding"):
    """A variable keeps its value unless it was declared with `let mut`. Assigning to it, to a part of
    it, or calling a method that changes it needs `mut`. Parameters are immutable: copy one into
    a `let mut` to change it. So is a slice, which is a copy, and a part of any value that
    no variable holds: the change would be lost.

    ```concerto
    fn main() {
        let names = ["Ada"];
        names.push("Grace");
        println(names);
    }
    ```

    ```concerto
    fn main() {
        let mut names = ["Ada"];
        names.push("Grace");
        println(names);
    }
    ```
    """


class Unassigned(Problem, code="E0206", title="used before it is assigned"):
    """A variable declared without a value must be assigned on every path before it is read.

    ```concerto
    fn main() {
        let size: String;
        if 3 > 2 {
            size = "large";
        }
        println(size);
    }
    ```

    ```concerto
    fn main() {
        let size: String;
        if 3 > 2 {
            size = "large";
        } else {
            size = "small";
        }
        println(size);
    }
    ```
    """


class CaptureAssigned(Problem, code="E0207", title="assignment to a capture"):
    """A closure captures the values of the variables around it when it is made. Assigning to one inside
    would change only the closure's own copy, so it is refused; return a value, or keep
    shared state in a `hashmap`.

    ```concerto
    fn main() {
        let mut total = 0;
        let add = |n: Int| { total += n; };
        add(2);
        println(total);
    }
    ```

    ```concerto
    fn main() {
        let mut total = 0;
        let add = |sum: Int, n: Int| sum + n;
        total = add(total, 2);
        println(total);
    }
    ```
    """
