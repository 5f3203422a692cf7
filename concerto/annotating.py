"""What annotations name of `typing`: to load that, and regular expressions with it, is a tenth of a start.

What every start loads imports the names from here. Type checkers see those of `typing`; while a program runs
no annotation is evaluated, and in an alias or as the base of a class anything will do.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import Final as Final
    from typing import Literal as Literal
    from typing import Protocol as Protocol
    from typing import TextIO as TextIO
    from typing import TypeAlias as TypeAlias
else:
    Any = ClassVar = Final = Literal = Protocol = TextIO = TypeAlias = object
