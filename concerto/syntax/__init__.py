"""The front end: text to syntax tree and back.

`parser.decode` and `parser.parse` turn bytes into an `ast.Module`; `format.format_module` and
`unparse.unparse` turn trees into text; `dump.dump` shows a tree. The grammar itself is
`grammar/concerto.lark`.
"""
