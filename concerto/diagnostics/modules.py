"""Problems between files and of the manifest (E0501–E0505)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class ModuleNotFound(Problem, code="E0501", title="module not found"):
    """A `use` or `mod` names a module for which there is no file. `use shapes::area;` looks for
    `shapes.conc`, `shapes/mod.conc` or a folder `shapes` that has modules in it, beside the program's first
    file, then for an installed Python package that ships a module `shapes`; `self::` and `super::` start at
    the present module, `std::` is the standard library.

    ```concerto
    use shapes::area;

    fn main() {
        println(area(2, 3));
    }
    ```

    ```concerto
    use shapes::area;

    fn main() {
        println(area(2, 3));
    }
    //--- file: shapes.conc
    pub fn area(width: Int, height: Int) -> Int { width * height }
    ```
    """


class NotExported(Problem, code="E0502", title="name not found in a module"):
    """The module exists and has nothing of this name. The message suggests what it has instead, if
    something is near.

    ```concerto
    use shapes::aria;

    fn main() {
        println(aria(2, 3));
    }
    //--- file: shapes.conc
    pub fn area(width: Int, height: Int) -> Int { width * height }
    ```

    ```concerto
    use shapes::area;

    fn main() {
        println(area(2, 3));
    }
    //--- file: shapes.conc
    pub fn area(width: Int, height: Int) -> Int { width * height }
    ```
    """


class PrivateName(Problem, code="E0503", title="name is private to its module"):
    """The module has this name but does not share it. `pub` before the declaration exports it.

    ```concerto
    use shapes::area;

    fn main() {
        println(area(2, 3));
    }
    //--- file: shapes.conc
    fn area(width: Int, height: Int) -> Int { width * height }
    ```

    ```concerto
    use shapes::area;

    fn main() {
        println(area(2, 3));
    }
    //--- file: shapes.conc
    pub fn area(width: Int, height: Int) -> Int { width * height }
    ```
    """


class ImportCycle(Problem, code="E0504", title="modules import each other in a cycle"):
    """Module A uses B, and B, perhaps by way of others, uses A. The message shows the way round. Move
    what both need into a third module.

    ```concerto
    use even::is_even;

    fn main() {
        println(is_even(4));
    }
    //--- file: even.conc
    use odd::is_odd;
    pub fn is_even(n: Int) -> Bool { n == 0 || is_odd(n - 1) }
    //--- file: odd.conc
    use even::is_even;
    pub fn is_odd(n: Int) -> Bool { n != 0 && is_even(n - 1) }
    ```

    ```concerto
    use parity::is_even;

    fn main() {
        println(is_even(4));
    }
    //--- file: parity.conc
    pub fn is_even(n: Int) -> Bool { n == 0 || is_odd(n - 1) }
    pub fn is_odd(n: Int) -> Bool { n != 0 && is_even(n - 1) }
    ```
    """


class BadManifest(Problem, code="E0505", title="mistake in `Concerto.toml`"):
    """`Concerto.toml` is not TOML, has a key that nobody reads, or a value of the wrong kind. Unknown
    keys are refused, because a misspelt limit or permission would go unnoticed. A manifest that
    belongs neither to you, nor to root, nor to the owner of the program's folder is refused as a whole.

    ```toml
    [connections.openai]
    api_key = "OPENAI_API_KEY"
    ```

    ```toml
    [connections.openai]
    api_key_env = "OPENAI_API_KEY"
    ```
    """
