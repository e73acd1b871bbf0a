"""The table of commands, and what they share: lazy loading, one-line errors, exit codes."""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .._version import __version__
from ..errors import ExecutorError
from .controls import without_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

# name: (module, attribute, the line shown in the list of commands)
COMMANDS = {
    "balance": (".balance", "balance", "Balance loads from a file; show before and after."),
    "assign": (".assign", "assign", "Choose which whole tasks move where."),
    "solve": (".solve", "solve", "Solve a 0-1 program from a model file exactly."),
    "plan": (".plan", "plan", "Plan moves in a network under link capacities."),
    "study": (".study", "study", "Run a Monte Carlo study; print its table and plots."),
    "topologies": (".topologies", "topologies", "List the topologies, or describe one."),
    "warmup": (".warmup", "warmup", "Compile kernels ahead, on all processors."),
    "doctor": (".doctor", "doctor", "Check the installation and run known answers."),
}
# How click calls the types of ranges in its errors, and how they are called here.
_PLAIN_NAMES = {"integer range": "whole number", "float range": "number"}
_EXPECTED = (
    ValueError,
    TypeError,
    ArithmeticError,
    MemoryError,
    OSError,
    ImportError,
    ExecutorError,
)


class Commands(click.Group):
    """A group whose commands are imported on use, so that help loads no numerical library."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        command: click.Command = getattr(importlib.import_module(module, __package__), attribute)
        for option in command.params:
            option.type.name = _PLAIN_NAMES.get(option.type.name, option.type.name)
        if not any(option.name == "debug" for option in command.params):
            command.params.append(_debug_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            ctx.fail(f"no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = lambda message, *_: click.echo(
                    without_controls(f"fastlb: {message}"), err=True
                )
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            click.echo("fastlb: interrupted", err=True)
            raise click.Abort from None
        except Exception as error:
            if ctx.meta.get("fastlb.debug"):
                traceback.print_exc()
            raise click.ClickException(one_line(error)) from error

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        try:
            code = super().main(args, prog_name, complete_var, False, **extra)
        except click.Abort:
            if not standalone_mode:
                raise
            sys.exit(130)
        except click.ClickException as error:
            if not standalone_mode:
                raise
            _fail(error)
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def one_line(error: Exception) -> str:
    """Return what a person is told of an error."""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, _EXPECTED) and str(error):
        text = str(error)
    else:
        text = f"unexpected {type(error).__name__}: {error} (--debug shows where)"
    return " ".join(text.split())


def _fail(error: click.ClickException) -> NoReturn:
    text = f"fastlb: {error.format_message()}"
    if isinstance(error, click.UsageError):
        where = error.ctx.command_path if error.ctx else "fastlb"
        text = f"{where}: {error.format_message()} (see {where} --help)"
    click.echo(without_controls(" ".join(text.split())), err=True)
    sys.exit(2)


def _debug_option() -> click.Option:
    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.meta["fastlb.debug"] = True

    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        callback=remember,
        is_eager=True,
        help="Show the traceback of an error.",
    )


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command has examples in its own help: fastlb balance --help",
)
@click.version_option(__version__, message="fastlb %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Exact, vectorised load balancing on interconnection networks.

    Exit codes: 0 done, 1 ran but did not reach what was asked, 2 bad input, 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
