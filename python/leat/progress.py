"""How far something is: a bar in notebooks that have ipywidgets, else a line that is written again.

It appears only where somebody looks, on a terminal or in a notebook, and after a second.
"""
from __future__ import annotations

import sys
import time
from typing import Any

SHOW_AFTER_SECONDS = 1.0


def in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Used with `with`: what is shown is removed at the end."""

    def __init__(self, shown: bool | None, total: int | None, unit: str) -> None:
        """shown None: if somebody looks. total None: nobody knows it."""
        self.total, self.unit = total, unit
        self.notebook = in_notebook()
        self.shown = (self.notebook or sys.stderr.isatty()) if shown is None else shown
        self.out = sys.stdout if self.notebook else sys.stderr  # notebooks show the latter as an error
        self.due = time.monotonic() + SHOW_AFTER_SECONDS
        self.written = 0
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def show(self, done: int, now: str = "") -> None:
        if not self.shown or time.monotonic() < self.due:
            return
        text = f"{done} of {self.total} {self.unit}" if self.total else f"{done} {self.unit}"
        text += f", {now}" if now else ""
        if self.notebook and self.total and self.show_bar(done, text):
            return
        print("\r" + text.ljust(self.written), end="", file=self.out, flush=True)
        self.written = len(text)

    def show_bar(self, done: int, text: str) -> bool:
        if self.bar is None:
            try:
                import ipywidgets
                from IPython.display import display
            except ImportError:
                return False
            self.bar = ipywidgets.IntProgress(max=self.total, layout={"width": "auto"})
            self.text = ipywidgets.Label()
            display(ipywidgets.HBox([self.bar, self.text]))
        self.bar.value, self.text.value = done, text
        return True

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.layout.display = self.text.layout.display = "none"
        if self.written:
            print("\r" + " " * self.written + "\r", end="", file=self.out, flush=True)
