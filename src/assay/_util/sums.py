"""Sums over data that workers hold in parts."""

from dataclasses import fields, replace
from typing import Any, Self, cast


class Sums:
    """Base of frozen dataclasses whose fields add over parts of the data."""

    def __add__(self, other: Self) -> Self:
        """Add each field of another part."""
        one: Any = self
        names = [field.name for field in fields(one)]
        added = {name: getattr(one, name) + getattr(other, name) for name in names}
        return cast(Self, replace(one, **added))
