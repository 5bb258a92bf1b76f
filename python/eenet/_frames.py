"""Logged decisions in columns: the table behind `eenet.evaluate.frame`.

The columns are checked and written as a CSV log, so that roles, context and numbers are those of `eenet evaluate` on
the same file.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from ._columns import (action_name, at, check_probabilities, find_column, plain, read_actions, read_columns,
                       read_numbers, read_texts, read_times, shown)
from ._errors import BadInput
from ._lab_library import lab as _lab

_LARGEST = 1e9  # reward, in either direction
_FILE = "frame.csv"
# Columns of a data frame with these names are features, not what guardrails did.
_GUARD_ROLES = ("group", "treated_share", "baseline_uniform", "key", "segment", "rules", "repeats")


def ordered(names: Iterable[str]) -> list[str]:
    """In the order of the log: by number if all are whole numbers, otherwise by their bytes."""
    listed = list(names)
    if all(re.fullmatch(r"-?\d{1,18}", name) for name in listed):
        return sorted(listed, key=lambda name: (int(name), name.encode()))
    return sorted(listed, key=str.encode)


class Frame:
    """Logged decisions, checked; `write` makes a log of them. Candidates may add actions and take columns first."""

    def __init__(
        self,
        data: Any,
        action: Any,
        reward: Any,
        probability: Any,
        context: Any,
        ignore: Any,
        time: Any,
        id: Any,
        actions: Any,
    ) -> None:
        self.data = data
        self.columns = read_columns(data)
        self.roles = {
            argument: find_column(self.columns, name, argument)
            for argument, name in (
                ("action", action), ("reward", reward), ("probability", probability), ("time", time), ("id", id)
            )
            if name is not None or argument not in ("time", "id")
        }
        self._check_roles()
        self.listed = None if context is None else self._read_context(context)
        self.names, self.meanings = read_actions(self.columns[self.roles["action"]], self.roles["action"])
        self.rows = len(self.names)
        self.cells = self._read_cells(self._read_ignored(ignore))
        self.only_in: dict[str, str] = {}  # where an action comes from that no row has
        self.closed = False
        if actions is not None:
            self._list_actions(actions)

    def _check_roles(self) -> None:
        used: dict[str, str] = {}
        for argument, name in self.roles.items():
            if name in used:
                raise BadInput(f"{argument}: column '{name}' is already the {used[name]}")
            used[name] = argument

    def _read_context(self, given: Any) -> list[str]:
        names = [given] if isinstance(given, (str, int)) else list(given)
        found = [find_column(self.columns, name, "context") for name in names]
        for name in found:
            if found.count(name) > 1:
                raise BadInput(f"context: column '{name}' is given twice")
            for argument in ("action", "reward", "probability"):
                if name == self.roles[argument]:
                    raise BadInput(
                        f"context: column '{name}' is the {argument}, which is not known before the decision"
                    )
        return found

    def _read_ignored(self, given: Any) -> list[str]:
        names = [] if given is None else [given] if isinstance(given, (str, int)) else list(given)
        found = [find_column(self.columns, name, "ignore") for name in names]
        for name in found:
            if name in self.roles.values() or name in (self.listed or ()):
                raise BadInput(f"ignore: column '{name}' is used by another argument")
        return found

    def _read_cells(self, ignored: Sequence[str]) -> dict[str, list[str]]:
        """Of the columns that the log needs, all of the same length."""
        numbers = {"reward": "a number", "probability": "a probability above 0 and at most 1"}
        kept = self.columns if self.listed is None else dict.fromkeys([*self.roles.values(), *self.listed])
        uses = {name: argument for argument, name in self.roles.items()}
        cells: dict[str, list[str]] = {}
        for name in kept:
            if name in ignored:
                continue
            given, use = self.columns[name], uses.get(name, "")
            if use in numbers:
                values = read_numbers(given, name, numbers[use])
                self._check_numbers(values, name, use, numbers[use])
                cells[name] = read_texts(values if plain(given, name).dtype.kind in "bO" else given, name)
            elif use == "action":
                cells[name] = self.names
            elif use == "time":
                cells[name] = read_times(given, name)
            else:
                cells[name] = read_texts(given, name)
        for name, texts in cells.items():
            if len(texts) != self.rows:
                action = self.roles["action"]
                raise BadInput(
                    f"column '{name}': expected {self.rows} rows, as in column '{action}', got {len(texts)}"
                )
        if not self.rows:
            raise BadInput("data: expected at least one row, got none")
        return cells

    @staticmethod
    def _check_numbers(values: numpy.ndarray[Any, Any], name: str, use: str, expected: str) -> None:
        if use == "probability":
            return check_probabilities(values, name, False, expected)
        for row in numpy.flatnonzero(~(numpy.abs(values) <= _LARGEST))[:1]:
            raise BadInput(f"{at(name, int(row))}: expected a reward from -1e9 to 1e9, got {values[row]:g}")

    # ---- actions ----

    @property
    def actions(self) -> list[str]:
        """All names, in the order of the log."""
        return ordered(self.meanings)

    def _list_actions(self, given: Any) -> None:
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise BadInput(f"actions: expected a list of names, got {given!r}")
        listed = {action_name(value): value for value in given}
        for row, name in enumerate(self.names):
            if name not in listed:
                where = at(self.roles["action"], row)
                raise BadInput(f"{where}: action '{name}' is not one of actions=: {shown(listed)}")
        for name in listed:
            self.add_action(name, listed[name], "actions=")
        self.closed = True

    def add_action(self, name: str, value: Any, source: str) -> None:
        """Adds an action, if it is new: no row has it."""
        if not name:
            raise BadInput(f"{source}: expected names of actions, got an empty one")
        if name in self.meanings:
            return
        if self.closed:
            raise BadInput(f"{source}: action '{name}' is not one of actions=: {shown(self.actions)}")
        self.meanings[name] = value
        self.only_in[name] = source

    # ---- writing and reading ----

    def write(self, folder: str) -> bytes:
        """Writes the log, and returns the text that names it."""
        path = os.path.join(folder, _FILE)
        headers = self._headers()
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(headers.values())
            writer.writerows(zip(*self.cells.values()))
        options = [f"{argument}={headers[name]}" for argument, name in self.roles.items()]
        free = "auto" if self.listed is None else "none"
        options += [f"{argument}={free}" for argument in ("time", "id") if argument not in self.roles]
        options += ["count=none", "skipped=none", f"copies={free}"]
        options += [f"{role}=none" for role in _GUARD_ROLES]
        options.append("context=" + ("auto" if self.listed is None else "all" if self.listed else "none"))
        if self.only_in:
            options.append(f"actions=@{self._write_actions(folder)}")
        return os.fsencode(f"csv:{path},{','.join(options)}")

    def in_rows(self, message: str) -> str:
        """A message about the log, with rows of the data in place of lines; the first line is the header."""
        message = re.sub(rf"\S*{re.escape(_FILE)}, line", "line", message)
        message = re.sub(r"\bline (\d+)( of the log)?", lambda found: self._place_of(int(found[1])), message)
        for name, header in self._headers().items():
            if header != name:
                message = message.replace(header, name)
        return message.replace("=COLUMN+COLUMN", "=[COLUMN, ...]")

    def _place_of(self, line: int) -> str:
        """The row that begins in this line of the log. A row with line breaks in its texts takes several lines."""
        rows = zip(*self.cells.values()) if any("\n" in "".join(texts) for texts in self.cells.values()) else ()
        line -= 2 + sum(name.count("\n") for name in self._headers().values())
        for row, cells in enumerate(rows):
            if row >= line:
                break
            line -= sum(text.count("\n") for text in cells)
        return f"row {line}" if line >= 0 else "the header"

    def _headers(self) -> dict[str, str]:
        """The header of each column: its name. A role's column has another one if an option could not name it."""
        taken = [name.casefold() for name in self.cells]  # logs find columns in any case
        headers = {name: name for name in self.cells}
        for name in self.roles.values():
            usual = re.fullmatch(r"\w([\w .-]{0,78}\w)?", name, re.ASCII) and name not in ("auto", "none")
            if not usual or taken.count(name.casefold()) > 1:
                number = next(i for i in range(len(taken) + 1) if f"column_{i}" not in taken)
                headers[name] = f"column_{number}"
                taken.append(headers[name])
        return headers

    def _write_actions(self, folder: str) -> str:
        """The names in a file, one per line."""
        for name in self.actions:
            if "\n" in name or "\r" in name:
                raise BadInput(f"actions: expected names without line breaks, got {name!r}")
        path = os.path.join(folder, "actions")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"{name}\n" for name in self.actions)
        return path

    def take_column(self, name: Any, what: str) -> Any:
        """A column of a candidate's probabilities, which is then no context, unless context= lists it."""
        found = find_column(self.columns, name, what)
        if found not in self.roles.values() and found not in (self.listed or ()):
            self.cells.pop(found, None)
        return self.columns[found]

    def context_columns(self, log: bytes) -> list[str]:
        """The columns that policies see, by the rule of CSV logs."""
        if self.listed is not None:
            return self.listed
        return [name for name, _, used, _ in _lab.log_columns(log) if used]

    def notes(self) -> list[str]:
        """Sentences about actions that no row has."""
        sources: dict[str, list[str]] = {}
        for name, source in self.only_in.items():
            sources.setdefault(source, []).append(f"'{name}'")
        one = "Only {} has action {}: the log never takes it, so it cannot say what it would earn."
        several = "Only {} has actions {}: the log never takes them, so it cannot say what they would earn."
        return [
            (one if len(names) == 1 else several).format(source, shown(names)) for source, names in sources.items()
        ]

    def part(self, names: Sequence[str]) -> Any:
        """These columns, in the form of the data."""
        if hasattr(self.data, "iloc"):
            places = [list(self.columns).index(name) for name in names]
            return self.data.iloc[:, places]
        return {name: self.columns[name] for name in names}

    def write_probabilities(self, by_action: Mapping[str, numpy.ndarray[Any, Any]], path: str) -> None:
        """A candidate's probabilities, as `file:` takes them: a column for each action, by name."""
        zeros = ["0"] * self.rows
        names = self.actions
        columns = [list(map(repr, by_action[name].tolist())) if name in by_action else zeros for name in names]
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(zip(*columns))
