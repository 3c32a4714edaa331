"""What is in force until it is undone: as a context manager, at the end of the block."""

from __future__ import annotations

from types import TracebackType
from typing import Optional, Type, TypeVar

Own = TypeVar("Own", bound="Block")


class Block:
    def undo(self) -> None:
        """Puts back what was there before."""
        raise NotImplementedError

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.undo()
