"""Declarations and their members."""

from __future__ import annotations

from typing import Any, TypeVar

from concerto.syntax import ast
from concerto.syntax.building.base import BuilderBase, Children, ident
from concerto.syntax.tokens import Token

_Declaration = TypeVar("_Declaration", bound=ast.ItemBase)


class MemberRules(BuilderBase):
    """Functions, fields and what else stands inside declarations."""

    def decorator(self, c: Children) -> ast.Decorator:
        return ast.Decorator(c[0].start, c[1].end, ident(c[1]), [])

    def decorator_call(self, c: Children) -> ast.Decorator:
        return ast.Decorator(c[0].start, c[-1].end, ident(c[1]), c[3])

    def function(self, c: Children) -> ast.FnDecl:
        return self._function(c, False)

    def async_function(self, c: Children) -> ast.FnDecl:
        declaration = self._function(c[1:], True)
        declaration.start = c[0].start
        return declaration

    def _function(self, c: Children, is_async: bool) -> ast.FnDecl:
        word, name, generics, parameters, result, body = c
        block = None if isinstance(body, Token) else body
        return ast.FnDecl(
            word.start, body.end, ident(name), generics, parameters, result, block, is_async
        )  # fmt: skip

    def signature(self, c: Children) -> ast.FnDecl:
        """A function that ends where its signature does."""
        word, name, generics, parameters, result = c
        end = self.parameters_end if result is None else result.end
        return ast.FnDecl(word.start, end, ident(name), generics, parameters, result, None, False)

    def parameters(self, c: Children) -> list[ast.Parameter]:
        self.parameters_end = c[2].end
        parameters: list[ast.Parameter] = c[1]
        return parameters

    def parameter(self, c: Children) -> ast.Parameter:
        attributes, name, _, type_expr, default = c
        start = attributes[0].start if attributes else name.start
        end = default.end if default else type_expr.end
        return ast.Parameter(start, end, attributes, ident(name), False, type_expr, default)

    def pattern_parameter(self, c: Children) -> ast.Parameter:
        """Its name is the text of the pattern, which nobody can write as that of an argument."""
        attributes, pattern, _, type_expr, default = c
        start = attributes[0].start if attributes else pattern.start
        end = default.end if default else type_expr.end
        text = " ".join(self.source.text[pattern.start : pattern.end].split())
        name = ast.Ident(pattern.start, pattern.end, text)
        return ast.Parameter(start, end, attributes, name, False, type_expr, default, pattern)

    def bare_pattern_parameter(self, c: Children) -> ast.Parameter:
        return self.pattern_parameter([[], *c])

    def self_parameter(self, c: Children) -> ast.Parameter:
        name: Token = c[-1]
        return ast.Parameter(c[0].start, name.end, [], ident(name), len(c) > 1, None, None)

    def field(self, c: Children) -> ast.FieldDecl:
        attributes, public, name, optional, _, type_expr, default = c
        end = default.end if default else type_expr.end
        declaration = ast.FieldDecl(
            name.start, end, ident(name), type_expr, default, optional is not None
        )  # fmt: skip
        return self.dressed(declaration, attributes, public)

    def tuple_part(self, c: Children) -> ast.FieldDecl:
        """A field of a tuple struct; the struct gives it its number for a name."""
        public, type_expr = c
        name = ast.Ident(type_expr.start, type_expr.end, "")
        declaration = ast.FieldDecl(type_expr.start, type_expr.end, name, type_expr, None, False)
        return self.dressed(declaration, [], public)

    def variant(self, c: Children) -> ast.VariantDecl:
        return self._variant(c, None, None)

    def tuple_variant(self, c: Children) -> ast.VariantDecl:
        return self._variant(c, c[3], None)

    def struct_variant(self, c: Children) -> ast.VariantDecl:
        return self._variant(c, None, c[3])

    def _variant(
        self, c: Children, types: list[ast.TypeExpr] | None, fields: list[ast.FieldDecl] | None
    ) -> ast.VariantDecl:
        attributes, name = c[:2]
        declaration = ast.VariantDecl(name.start, c[-1].end, ident(name), types, fields)
        return self.dressed(declaration, attributes, None)

    def method(self, c: Children) -> ast.FnDecl:
        attributes, public, function = c
        declaration: ast.FnDecl = function
        return self.dressed(declaration, attributes, public)

    def setting(self, c: Children) -> ast.Setting:
        return ast.Setting(c[0].start, c[2].end, ident(c[0]), c[2])

    def tool_setting(self, c: Children) -> ast.Setting:
        _, _, name, _, _, value = c
        return ast.Setting(name.start, value.end, ident(name), value)

    def mcp_function(self, c: Children) -> ast.FnDecl:
        return self.dressed(self._function(c[2:], False), c[0], c[1])

    def stage(self, c: Children) -> ast.StageDecl:
        attributes, word, name, parameters, result, body = c
        stage = ast.StageDecl(word.start, body.end, ident(name), parameters, result, body)
        return self.dressed(stage, attributes, None)

    def dressed(
        self, declaration: _Declaration, attributes: list[ast.Decorator], public: Token | None
    ) -> _Declaration:
        """The declaration with its docs, decorators and `pub`, starting at the first of its tokens."""
        starts = [attribute.start for attribute in attributes]
        if public is not None:
            starts.append(public.start)
            declaration.public = True
        starts.append(declaration.start)
        if self.docs:
            declaration.docs = self.take_docs(*starts)
        declaration.decorators = attributes
        declaration.start = starts[0]
        return declaration


class ItemRules(MemberRules):
    def item(self, c: Children) -> ast.Item:
        attributes, public, declaration = c
        return self.dressed(declaration, attributes, public)  # type: ignore[no-any-return]

    def error_item(self, c: Children) -> ast.ErrorItem:
        return ast.ErrorItem(c[0].start, c[0].end)

    def struct(self, c: Children) -> ast.StructDecl:
        return ast.StructDecl(c[0].start, c[-1].end, ident(c[1]), c[2], c[4])

    def tuple_struct(self, c: Children) -> ast.StructDecl:
        fields = c[4]
        for index, field in enumerate(fields):
            field.name = ast.Ident(field.name.start, field.name.end, str(index))
        return ast.StructDecl(c[0].start, c[-1].end, ident(c[1]), c[2], fields, positional=True)

    def schema(self, c: Children) -> ast.SchemaDecl:
        return ast.SchemaDecl(c[0].start, c[-1].end, ident(c[1]), c[2], c[4])

    def enum(self, c: Children) -> ast.EnumDecl:
        return ast.EnumDecl(c[0].start, c[-1].end, ident(c[1]), c[2], c[4])

    def trait(self, c: Children) -> ast.TraitDecl:
        return ast.TraitDecl(c[0].start, c[-1].end, ident(c[1]), c[2], c[4])

    def impl(self, c: Children) -> ast.ImplDecl:
        return ast.ImplDecl(c[0].start, c[-1].end, c[1], None, c[2], *_members(c[4]))

    def trait_impl(self, c: Children) -> ast.ImplDecl:
        word, generics, trait, _, target, _, members, closing = c
        if not isinstance(trait, ast.PathType):
            self.unexpected(trait.start, trait.end, "expected the name of a trait")
            trait = None
        return ast.ImplDecl(word.start, closing.end, generics, trait, target, *_members(members))

    def append_constant(self, c: Children) -> list[ast.FnDecl | ast.ConstDecl]:
        members, attributes, public, constant = c
        members.append(self.dressed(constant, attributes, public))
        return members  # type: ignore[no-any-return]

    def const(self, c: Children) -> ast.ConstDecl:
        return ast.ConstDecl(c[0].start, c[-1].end, ident(c[1]), c[2], c[4])

    def type_alias(self, c: Children) -> ast.TypeAliasDecl:
        return ast.TypeAliasDecl(c[0].start, c[-1].end, ident(c[1]), c[2], c[4])

    def file_module(self, c: Children) -> ast.ModDecl:
        return ast.ModDecl(c[0].start, c[-1].end, ident(c[1]), None)

    def inline_module(self, c: Children) -> ast.ModDecl:
        return ast.ModDecl(c[0].start, c[-1].end, ident(c[1]), c[3])

    def agent(self, c: Children) -> ast.AgentDecl:
        keyword: Any = c[0].text
        return ast.AgentDecl(c[0].start, c[-1].end, keyword, ident(c[1]), c[3])

    def connect(self, c: Children) -> ast.ConnectDecl:
        return ast.ConnectDecl(c[0].start, c[-1].end, ident(c[1]), c[3])

    def state(self, c: Children) -> ast.StateDecl:
        keyword: Any = c[0].text
        return ast.StateDecl(c[0].start, c[-1].end, keyword, ident(c[1]), c[2], c[3])

    def bare_pipeline(self, c: Children) -> ast.PipelineDecl:
        word, name, result, _, stages, closing = c
        return ast.PipelineDecl(word.start, closing.end, ident(name), None, result, stages)

    def pipeline(self, c: Children) -> ast.PipelineDecl:
        word, name, parameters, result, _, stages, closing = c
        return ast.PipelineDecl(word.start, closing.end, ident(name), parameters, result, stages)

    # --- Tools and MCP servers ---

    def tool(self, c: Children) -> ast.ToolDecl:
        word, name, trait, _, members, closing = c
        tool = ast.ToolDecl(word.start, closing.end, ident(name), trait, [], [], [])
        for member in members:
            if isinstance(member, ast.FnDecl):
                tool.methods.append(member)
            elif isinstance(member, ast.Setting):
                tool.settings.append(member)
            elif (value := _setting_value(member)) is not None:
                tool.settings.append(ast.Setting(member.start, member.end, member.name, value))
            else:
                tool.fields.append(member)
        return tool

    def mcp(self, c: Children) -> ast.McpDecl:
        word, name, _, members, closing = c
        settings = [member for member in members if isinstance(member, ast.Setting)]
        functions = [member for member in members if isinstance(member, ast.FnDecl)]
        return ast.McpDecl(word.start, closing.end, ident(name), settings, functions)

    # --- Imports ---

    def use(self, c: Children) -> ast.UseDecl:
        return ast.UseDecl(c[0].start, c[-1].end, c[1])

    def use_start(self, c: Children) -> list[ast.Ident]:
        return [ident(c[0])]

    def use_step(self, c: Children) -> list[ast.Ident]:
        path: list[ast.Ident] = c[0]
        path.append(ident(c[2]))
        return path

    def use_tree(self, c: Children) -> list[ast.UseTree]:
        path: list[ast.Ident] = c[0]
        return [ast.UseTree(path[0].start, path[-1].end, path, None, False)]

    def use_alias(self, c: Children) -> list[ast.UseTree]:
        path, _, alias = c
        return [ast.UseTree(path[0].start, alias.end, path, ident(alias), False)]

    def use_glob(self, c: Children) -> list[ast.UseTree]:
        path, _, star = c
        return [ast.UseTree(path[0].start, star.end, path, None, True)]

    def use_everything(self, c: Children) -> list[ast.UseTree]:
        return [ast.UseTree(c[0].start, c[0].end, [], None, True)]

    def use_group(self, c: Children) -> list[ast.UseTree]:
        prefix, branches = c[0], c[3]
        return [
            ast.UseTree(leaf.start, leaf.end, [*prefix, *leaf.path], leaf.alias, leaf.glob)
            for branch in branches
            for leaf in branch
        ]


def _setting_value(field: ast.FieldDecl) -> ast.Expr | None:
    """The value of a tool's `name: value`, which was read as a field with a type."""
    if field.default is not None or field.optional:
        return None
    type_expr = field.type
    if isinstance(type_expr, ast.UnionType) and len(type_expr.literals) == 1:
        return type_expr.literals[0]
    if field.name.text != "description" or not isinstance(type_expr, ast.PathType):
        return None
    segments = [ast.PathSegment(name.start, name.end, name, []) for name in type_expr.segments]
    return ast.Path(type_expr.start, type_expr.end, segments)


def _members(members: list[ast.FnDecl | ast.ConstDecl]) -> tuple[list[ast.FnDecl], list[ast.ConstDecl]]:
    methods = [member for member in members if not isinstance(member, ast.ConstDecl)]
    return methods, [member for member in members if isinstance(member, ast.ConstDecl)]
