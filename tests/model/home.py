"""The end of a history: nobody waits for ever."""

from __future__ import annotations

from tests.model.runner import Runner
from tests.model.things import WAITS
from tests.model.world import World


def go_home(world: World) -> None:
    """The dead are found, the living ask, confirm and end until all have had their turn; an empty board is left."""
    world.clock.step(4000)
    for runner in world.runners:
        world.listen(runner.id, runner.alive and runner.id in world.model.jobs)
    dead = [runner for runner in world.runners if not runner.alive and runner.id in world.model.jobs]
    world.vouches["m1"] = [runner.seen("gone") for runner in dead]
    for machine, board in world.boards.items():
        board._common["load"] = 0
        world.sweep(machine)
    for _ in range(2 * len(world.model.jobs) + 2):
        for runner in world.runners:
            _step(world, runner)
    assert not world.model.jobs, f"these never got their turn: {world.model.jobs}"


def _step(world: World, runner: Runner) -> None:
    job = world.model.jobs.get(runner.id)
    if job is None or not runner.alive:
        return
    if job.state in WAITS:
        world.beat(runner)
    elif job.state == "granted":
        world.start(runner, job.fence)
    else:
        world.finish(runner, job.fence)
