"""The omp plugin that this package carries: where it lies, and its version."""

from __future__ import annotations

import json
import os

from coord.errors import CoordError

_HERE = os.path.dirname(os.path.abspath(__file__))
_PLACES = (os.path.join(_HERE, "plugin"), os.path.join(os.path.dirname(_HERE), "plugin"))
"""Inside the package when installed, beside it in a checkout."""


def folder() -> str:
    """The folder that omp is given; CoordError when this installation lacks it."""
    for place in _PLACES:
        if os.path.isfile(os.path.join(place, "package.json")):
            return place
    raise CoordError("this installation has no plugin in it: install omp-coord again")


def version() -> str:
    """What its package.json says; CoordError when that cannot be read."""
    path = os.path.join(folder(), "package.json")
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.load(file)["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CoordError(f"{path} cannot be read ({error}): install omp-coord again") from None
