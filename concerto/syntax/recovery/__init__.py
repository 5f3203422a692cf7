"""Error recovery of the parser: reports a syntax error and lets parsing go on.

`panic_mode` is where the parser asks. It tries whole constructs of other languages (`foreign_forms`), then
edits of single tokens (`token_repair`); both look at the place of the error as a `scene`. What to say stands
in two tables: `foreign_constructs` here and `syntax.foreign_words`, which the lexer knows too.
"""
