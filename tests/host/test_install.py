"""As a user installs it: no option names the plugin, omp finds it by itself."""

from __future__ import annotations

from tests.host.board import SOON_S
from tests.host.omp import PLUGIN, ROOT
from tests.host.script import marked, say, spawn, text
from tests.host.world import World


def works(world: World) -> None:
    """A session with the plugin is on the board, counts its agents, and leaves nothing."""
    a = world.session(plugin=False)
    a.run(say("go", spawn(marked("W0")), text("it runs")))
    assert world.board.kinds().count("spawn_approved") == 1
    assert a.notices("warning") + a.notices("error") == []
    assert a.quit() == 0
    world.board.until_sessions(within=SOON_S)
    assert a.complaints() == ""


def test_linked(world: World) -> None:
    """`omp plugin link`, which looks at the plugin without any session, ends by itself."""
    world.omp("plugin", "link", PLUGIN)
    assert "omp-coord" in world.omp("plugin", "list")
    works(world)


def test_from_the_marketplace_folder(world: World) -> None:
    """The repository is a marketplace; `omp plugin install` copies the plugin from there, and removes it again."""
    world.omp("plugin", "marketplace", "add", ROOT)
    world.omp("plugin", "install", "omp-coord@omp-coord")
    works(world)
    world.omp("plugin", "uninstall", "omp-coord@omp-coord")
    assert "omp-coord" not in world.omp("plugin", "list")
