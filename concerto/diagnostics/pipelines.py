"""Problems of pipelines and of tests (E0430–E0442)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class StageWithoutType(Problem, code="E0430", title="stage without a return type"):
    """Each stage of a pipeline says by its return type what it passes to the next. If it can fail, that is
    a Result, which the pipeline unwraps on the way.

    ```concerto
    pipeline Shout {
        stage trim(text: String) { text.trim() }
        stage upper(text: String) -> String { text.to_upper() }
    }

    fn main() {
        println(Shout.run(" hi ").is_ok());
    }
    ```

    ```concerto
    pipeline Shout {
        stage trim(text: String) -> String { text.trim() }
        stage upper(text: String) -> String { text.to_upper() }
    }

    fn main() {
        println(Shout.run(" hi ").is_ok());
    }
    ```
    """


class StagesDoNotFit(Problem, code="E0431", title="stages do not fit"):
    """What one stage returns, unwrapped if it is a Result, is not what the next one takes.

    ```concerto
    pipeline Measure {
        stage count(text: String) -> Int { text.len() }
        stage upper(text: String) -> String { text.to_upper() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```

    ```concerto
    pipeline Measure {
        stage upper(text: String) -> String { text.to_upper() }
        stage count(text: String) -> Int { text.len() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```
    """


class PipelineSignature(Problem, code="E0432", title="pipeline signature does not fit its stages"):
    """A pipeline's parameter is what its first stage takes, its result what the last one returns. The
    signature may be left out.

    ```concerto
    pipeline Measure(text: String) -> String {
        stage count(text: String) -> Int { text.len() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```

    ```concerto
    pipeline Measure(text: String) -> Int {
        stage count(text: String) -> Int { text.len() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```
    """


class MockOutsideTest(Problem, code="E0440", title="`mock` outside a test"):
    """`mock` replaces an agent, server or channel while a test runs. It stands in a function marked
    with `@test` and nowhere else. To run a whole program without a model, use `--mock`.

    ```concerto
    agent Greeter { provider: openai }

    fn main() {
        mock Greeter { response: "hi" }
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    agent Greeter { provider: openai }

    @test
    fn greets() {
        mock Greeter { response: "hi" }
        assert(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class TestMisused(Problem, code="E0441", title="test function called or mis-declared"):
    """A `@test` function is run by `concerto test`, not called by the program; it has no parameters
    and returns nothing or a Result.

    ```concerto
    @test
    fn adds(a: Int) {
        assert_eq(a + 1, 2);
    }
    ```

    ```concerto
    @test
    fn adds() {
        assert_eq(1 + 1, 2);
    }
    ```
    """

    __test__ = False  # Not a test of pytest's, whatever its name says.


class DecoratorWithoutTest(Problem, code="E0442", title="`@expect_fail` or `@replay` without `@test`"):
    """`@expect_fail` says that a test is meant to fail, `@replay` where its answers are recorded. Both stand
    beside `@test`.

    ```concerto
    @expect_fail("overflow")
    fn grows() {
        println(9223372036854775807 + 1);
    }
    ```

    ```concerto
    @test
    @expect_fail("overflow")
    fn grows() {
        println(9223372036854775807 + 1);
    }
    ```
    """
