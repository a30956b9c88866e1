"""What the configuration says about agents' bash commands."""

from __future__ import annotations

import os

from tests.host.script import agent, bash, report, say, spawn, text
from tests.host.world import World

RULES = [
    {"pattern": r"^sh work\.sh", "action": "queue", "queue": "build"},
    {"pattern": r"git push", "action": "refuse", "reason": "the user pushes"},
]


def test_a_command_of_an_agent_waits_in_a_queue(world: World) -> None:
    """It shows on the board with its session and agent, and what it prints reaches the agent. A command that is refused
    does not run, and the agent is told why."""
    world.config(queues={"build": {"slots": 1}}, commands=RULES)
    world.place.write("work.sh", "echo at work; read -r word <gate; echo $word >>done; echo it is $word")
    os.mkfifo(world.place.path("gate"))
    a = world.session()
    steps = (bash("sh work.sh"), bash("echo pushed >>done; git push"), report())
    a.prompt(say("go", spawn(agent("W0", *steps)), text("it runs")))
    world.board.until(lambda: world.board.jobs("running"), "the command is a job on the board")
    (job,) = world.board.jobs()
    session = world.board.sessions()["A"]["id"]
    assert (job["queue"], job["session"], job["agent"]) == ("build", session, "W0")
    with open(world.place.path("gate"), "w", encoding="utf-8") as gate:
        gate.write("finished\n")
    a.settled()
    assert world.place.lines("done") == ["finished"]
    world.model.said_to("W0", "it is finished")
    world.model.said_to("W0", "the user pushes")
    assert world.place.outcomes() == ["ok"]
