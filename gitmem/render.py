"""Text that a person may want to reword lives in `templates/`; this fills it in."""

from __future__ import annotations

import os

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gitmem.resources import path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(template: str, **values: Any) -> str:
    """A template of `templates/` with its values. Nothing in a value is ever read as a template."""
    folder = os.path.dirname(path_of("templates", template))
    environment = Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False,  # noqa: S701  # Markdown and plain text, never HTML
    )  # fmt: skip
    return environment.get_template(template).render(**values)
