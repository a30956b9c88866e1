"""Where each scope lives, kept in one small file per scope: `Home.scopes()` (design 10, "Which server").

HOT: imported by `omp-coord run`.

A record is written by whoever decides where a scope lives, under that scope's lock, and read by everybody
else, so that two sessions never end on two servers. Its time of change says when the decision was last looked
at.
"""

from __future__ import annotations

import os
import time

from coord import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.home import Home


class Record:
    """`url` is where the scope lives (password and all: the file is 0600), `embedded` whether that is our own
    server, `named` whether somebody asked for it by name, `skipped` why 127.0.0.1:6379 was passed over (""
    when nothing listened there), `boot` the boot in which it was written, `age` seconds since it was last
    looked at (< 0: the clock was set back)."""

    __slots__ = ("age", "boot", "embedded", "named", "skipped", "url")

    def __init__(
        self,
        url: str,
        embedded: bool,
        *,
        named: bool = False,
        skipped: str = "",
        boot: str = "",
        age: float = 0,
    ) -> None:
        self.url = url
        self.embedded = embedded
        self.named = named
        self.skipped = skipped
        self.boot = boot
        self.age = age


def file_name(scope: str) -> str:
    """The name for a file of this scope: scopes may be called `..`, and file systems may ignore case."""
    lower = scope.lower()
    if lower != scope:
        lower = "".join(f"+{c.lower()}" if c.isupper() else c for c in scope)
    return lower + ".scope"


def path(home: Home, scope: str) -> str:
    """Where the record of `scope` is or would be; makes nothing."""
    return f"{home.machine}/scopes/{file_name(scope)}"


def read(home: Home, scope: str) -> Record | None:
    """The record, None when there is none that can be read."""
    try:
        fd = os.open(path(home, scope), os.O_RDONLY)
    except OSError:
        return None
    try:
        info = os.fstat(fd)
        if info.st_uid != os.geteuid():
            return None
        lines = os.read(fd, 8192).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return None
    finally:
        os.close(fd)
    values = {}
    for line in lines:
        name, _, value = line.partition("=")
        values[name] = value
    if not values.get("url") or "embedded" not in values:
        return None
    return Record(
        values["url"],
        values["embedded"] == "1",
        named=values.get("named") == "1",
        skipped=values.get("skipped", ""),
        boot=values.get("boot", ""),
        age=time.time() - info.st_mtime,
    )


def write(home: Home, scope: str, url: str, embedded: bool, *, named: bool = False, skipped: str = "") -> None:
    """Writes the record, whole or not at all. OSError when the folder cannot be used."""
    target = f"{home.scopes()}/{file_name(scope)}"
    text = (
        f"scope={scope}\nurl={url}\nembedded={embedded:d}\nnamed={named:d}\n"
        f"skipped={' '.join(skipped.split())}\nboot={boot_id()}\n"
    )
    private.write(target, text)


def boot_id() -> str:
    """Which boot of the machine this is; "" where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
