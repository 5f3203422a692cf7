"""The language server: what editors ask of programs and manifests, answered by the compiler's passes.

`documents` has the texts, saved or not; `programs` what the compiler knows of them as they are now. A file
for each kind of question comes next: functions from a program and a place to an answer of the protocol.
`server` joins them to pygls, which speaks the protocol. It comes with the extra `lsp`.
"""

from concerto.language_server import light_types as light_types
