"""A command whose help tells its options in groups, as `rich_help_panel` names them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

_OTHERS = "Other options"
"""Those without a group, `--help` among them; they stand last."""


class Grouped(TyperCommand):
    """A command that writes its help in plain text, a heading for each group of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups in the order of their first options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if param.param_type_name == "argument":
                # Versions of typer write the type behind it in ways of their own.
                groups.setdefault("Arguments", []).append((_named(param), record[1]))
            else:
                group = getattr(param, "rich_help_panel", None) or _OTHERS
                groups.setdefault(group, []).append(record)
        groups[_OTHERS] = groups.pop(_OTHERS)
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the command's name in the line of usage."""
        names = [_named(p) for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [*names, "[OPTIONS]"]


def _named(param: Any) -> str:
    return str(param.metavar or param.name)
