"""Templates with named slots."""

import string
from collections.abc import Collection, Mapping
from functools import cache

from assay._util.errors import suggest


class TemplateError(ValueError):
    """A fault of a template."""


@cache
def slots_of(template: str) -> tuple[str, ...]:
    """Return the names of a template's slots, each once; doubled braces are text."""
    names = []
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise TemplateError(f"{error}; write {{{{ and }}}} for braces of the text") from None
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if not name.isidentifier() or form or conversion:
            written = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            raise TemplateError(
                f"{{{written}}} is no slot; a slot is a name, as in {{query}}, and braces of the "
                "text are doubled"
            )
        names.append(name)
    return tuple(dict.fromkeys(names))


def check_slots(template: str, allowed: Collection[str], needed: Collection[str]) -> None:
    """Refuse slots that nothing fills, and templates without needed slots."""
    names = slots_of(template)
    if unknown := [name for name in names if name not in allowed]:
        raise TemplateError(
            f"nothing fills {{{unknown[0]}}}; {suggest(unknown[0], sorted(allowed))}"
        )
    if lacking := [name for name in needed if name not in names]:
        raise TemplateError(f"the slot {{{lacking[0]}}} is missing")


def filled(template: str, values: Mapping[str, str]) -> str:
    """Fill a template; braces in the values stay as they are."""
    parts = []
    for text, name, _, _ in string.Formatter().parse(template):
        parts.append(text)
        if name is not None:
            parts.append(values[name])
    return "".join(parts).strip()
