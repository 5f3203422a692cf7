"""Lines of a stream that are as the last one but for the text they add, as those of most answers are."""

from __future__ import annotations

_MOST_MISSES = 8
"""Servers that write a number or a filling into each line never send two that are alike."""


class UsualLine:
    """What stands around the text in a line of JSON. Who sees it again need not read the line."""

    def __init__(self) -> None:
        self._begin = self._end = "\n"
        """No line has a line end."""
        self._misses = 0

    def text_of(self, line: str) -> str:
        """The text of a line that is else as the one learned; empty if it is another, or has to be read."""
        if not self._is_alike(line):
            return ""
        text = line[len(self._begin) : -len(self._end)]
        if '"' in text or "\\" in text or not text.isprintable():  # JSON does not write it as it is.
            return ""
        self._misses = 0
        return text

    def learn(self, line: str, text: str | None) -> None:
        """`text` is one of the strings in the JSON of a line that had to be read, and all that it says."""
        if text is not None and self._is_alike(line):
            return
        self._begin = "\n"
        # Letters and blanks are not what stands between two strings, and nothing of the line is escaped.
        if not text or "\\" in line or not text.replace(" ", "").isalnum() or self._misses > _MOST_MISSES:
            return
        begin, quoted, end = line.partition(f'"{text}"')
        if quoted and quoted not in end:
            self._misses += 1
            self._begin, self._end = f'{begin}"', f'"{end}'

    def _is_alike(self, line: str) -> bool:
        begin, end = self._begin, self._end
        return line.startswith(begin) and line.endswith(end) and len(begin) + len(end) <= len(line)
