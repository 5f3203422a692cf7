"""Words and signs of other languages, and what to tell who brings them along."""

from __future__ import annotations

from concerto.records import frozen

# Characters without a meaning: the message and the advice.
CHARACTERS = {
    "&": ("there are no references", "leave the `&` out: values are copied when needed"),
    "#": ("`#` has no meaning here", "a comment starts with `//`, an attribute with `@`"),
    "$": ("`$` has no meaning outside of a string", "inside a string `${name}` inserts a value"),
    "`": ("a string stands in double quotes", 'write `"text ${value}"`'),
    "^": ("there is no operator `^`", "the power is `**`"),
    "~": (
        "there is no operator `~`",
        "`!x` is the opposite of a Bool, and turns the bits of an Int",
    ),
    "\\": ("`\\` has no meaning outside of a string", "an expression may simply go on in the next line"),
    "\0": ("a NUL character has no meaning here", ""),
    "“": ("strings stand in straight quotes", 'write `"…"`'),
    "”": ("strings stand in straight quotes", 'write `"…"`'),
    "‘": ("strings stand in straight quotes", 'write `"…"`'),
    "’": ("strings stand in straight quotes", 'write `"…"`'),
    "\u00a0": ("a non-breaking space has no meaning here", "use an ordinary space"),
}


@frozen
class Word:
    """What a word of another language stands for here, as a token."""

    kind: str
    text: str
    advice: str


def _meaning(words: str, text: str, advice: str, kind: str = "") -> dict[str, Word]:
    return dict.fromkeys(words.split(), Word(kind or text.upper(), text, advice))


WORDS = {
    **_meaning("def function func fun proc", "fn", "a function is declared with `fn`"),
    **_meaning("class record", "struct", "write `struct` for the data and `impl` for the methods"),
    **_meaning(
        "interface protocol",
        "trait",
        "an interface is a `trait`; what has fields is a `struct` or a `schema`",
    ),
    **_meaning("var val auto", "let", "a variable is declared with `let`, or `let mut` if it changes"),
    **_meaning("import include using require", "use", "write `use path::name;`"),
    **_meaning(
        "static",
        "const",
        "what all functions know is a `const`; what changes is kept in a `hashmap`, `ledger` or `memory`",
    ),
    **_meaning("elif elsif elseif", "else if", "write `else if`", "IF"),
    **_meaning("switch when", "match", "write `match value { pattern => result, … }`"),
    **_meaning("of", "in", "write `for item in items { … }`"),
    **_meaning("foreach", "for", "write `for item in items { … }`"),
    **_meaning("raise", "throw", "an error is thrown with `throw`"),
    **_meaning("except rescue", "catch", "write `catch ErrorType(e) { … }`"),
    **_meaning("package namespace module", "mod", "write `mod name { … }`"),
    **_meaning("public export", "pub", "what others may use is marked with `pub`"),
    **_meaning("not", "!", "write `!` for the opposite of a Bool", "BANG"),
    **_meaning("and", "&&", "write `&&`", "OPERATOR"),
    **_meaning("or", "||", "write `||`", "OR_OR"),
    **_meaning("is", "==", 'write `==`, `if let E::V(x) = …`, or `typeof(x) == "Int"`', "OPERATOR"),
    **_meaning("extends", ":", "a bound is written `T: Trait`", "COLON"),
    **_meaning("step node phase", "stage", "a step of a pipeline is a `stage name(input: T) -> U { … }`"),
}

# Words to leave out.
NEEDLESS = {
    "new": "write `Name { field: value }`, or call the function that builds it: `Name::new(…)`",
    "static": "a function of an `impl` without `self` needs no `static`",
    "final": "what is not `mut` does not change",
    "private": "what is not `pub` is private",
    "protected": "what is not `pub` is private",
    "unsafe": "there is nothing unsafe",
    "dyn": "a trait is a type by itself, without `Box`: write `Trait`, or `fn(T) -> U` for `Fn(T) -> U`",
    "move": "a closure always captures copies",
    "&mut": "leave it out: a function gives back what it changed, or is a method with `mut self`",
    "ref": "values are copied when needed, there are no references",
}

# Signs that stand together in other languages, and what to write instead; `{0}` is the name before them.
COMBINATIONS = {
    "++": "write `{0} += 1`",
    "--": "write `{0} -= 1`",
    "===": "write `==`, it compares by content and type",
    "!==": "write `!=`",
    "<>": "write `!=`",
    ":=": "write `let name = value;`",
    "?:": "the value of an Option or another one is `option ?? other`",
    "?.": "write `option.map(|value| …)`, or `value?.member` inside a function that returns an Option",
    "&&=": "write `{0} = {0} && …`",
    "||=": "write `{0} = {0} || …`",
    "??=": "write `{0} = Some({0} ?? …)`",
    "**=": "write `{0} = {0} ** …`",
    "=>>": "write `=>`",
    "<=>": "compare with `<`, `==` and `>`",
    "=+": "write `{0} += …`",
    "...": "a range is `a..b` or, with its end, `a..=b`; `a.concat(b)` joins arrays",
}


# What stands there, what is meant, and why.
WRONG_SIGNS = {
    (":", "->"): "a result type is written behind `->`",
    ("=", ":"): "a field is written `name: value`",
    ("->", "=>"): "an arm is written `pattern => result`",
    (":", "=>"): "an arm is written `pattern => result`",
    (";", ","): "members are separated by `,`",
    (".", "::"): "a path is written `a::b`",
    (":", "="): "a value is given with `=`",
    ("=>", "="): "a value is given with `=`",
    (":", ".."): "a slice is written `items[a..b]`",
}
