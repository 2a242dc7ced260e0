"""Near misses of names: what people type in place of a name that they nearly know."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import TYPE_CHECKING

from domain.suggestions import words

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator, Mapping

    Miss = Callable[[str, random.Random], str]

AFFIXES = ("Rq", "Ret", "Add", "Ref")
_affixes = re.compile(r"(?:Rq|Ret|Add|Ref)(?=$|Rq$)").finditer


def _edited(name: str, chance: random.Random, edit: Callable[[str, str], str]) -> str:
    """Return the name with an edit of one letter, of which `edit` also gets the next character."""
    letters = [place for place, character in enumerate(name) if character.isalpha()]
    place = chance.choice(letters)
    following = name[place + 1 : place + 2]
    return name[:place] + edit(name[place], following) + name[place + 1 + len(following) :]


def _plural_or_singular(name: str, _: random.Random) -> str:
    return name[:-1] if name.endswith("s") else f"{name}s"


def _camel_case(name: str, _: random.Random) -> str:
    first, *others = words(name)
    return first + "".join(map(str.title, others))


def _affix(name: str, chance: random.Random) -> str:
    """Return the name without one of its affixes, such as Add in CustomerAddRq, or with one more at its end."""
    present = [match for match in _affixes(name) if match.start()]
    if present and chance.random() < 0.5:
        match = chance.choice(present)
        return name[: match.start()] + name[match.end() :]
    return name + chance.choice(AFFIXES)


MISSES: Mapping[str, Miss] = {
    "a dropped letter": lambda name, chance: _edited(name, chance, lambda _, following: following),
    "a doubled letter": lambda name, chance: _edited(name, chance, lambda letter, following: 2 * letter + following),
    "two letters swapped": lambda name, chance: _edited(name, chance, lambda letter, following: following + letter),
    "a replaced letter": lambda name, chance: _edited(
        name, chance, lambda _, following: chance.choice(ascii_lowercase) + following
    ),
    "another case": lambda name, chance: chance.choice([str.lower, str.upper, str.title, str.swapcase])(name),
    "snake_case": lambda name, _: "_".join(words(name)),
    "kebab-case": lambda name, _: "-".join(words(name)),
    "camelCase": _camel_case,
    "singular or plural": _plural_or_singular,
    "an affix": _affix,
}
"""The kinds of mistakes. Each function makes one in a name, or returns the name if the mistake does not apply."""


def near_misses(name: str, names: Collection[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each kind of mistake with a near miss of `name` that is not another one of `names`."""
    for kind, miss in MISSES.items():
        if (missed := miss(name, chance)) and missed not in names:
            yield kind, missed
