"""All problem classes, and their rendering, in one place."""

from __future__ import annotations

from concerto.diagnostics.agents import *
from concerto.diagnostics.commands import *
from concerto.diagnostics.ir import *
from concerto.diagnostics.lexical import *
from concerto.diagnostics.modules import *
from concerto.diagnostics.names import *
from concerto.diagnostics.pipelines import *
from concerto.diagnostics.rendering import FORMATS as FORMATS
from concerto.diagnostics.rendering import render as render
from concerto.diagnostics.syntax import *
from concerto.diagnostics.tools import *
from concerto.diagnostics.trust import *
from concerto.diagnostics.types import *
from concerto.diagnostics.warnings import *
