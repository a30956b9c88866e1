"""The rules by which hypothesis makes a history of sessions: they come, spawn, wait, flicker, pause, die."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model.pools import strategies as some
from tests.model.pools.host import Host
from tests.model.pools.scene import Scene
from tests.model.pools.things import Agent


class Machine(Scene):
    """What sessions do, and what happens to them."""

    # --- sessions

    @rule(pick=some.anyone, machine=some.machines, wanted=st.sampled_from(("", "", "", "B")))
    def comes(self, pick: int, machine: str, wanted: str) -> None:
        """A session opens, perhaps with agents that run already."""
        w, number = self.w, len(self.w.hosts)
        if sum(host.speaks for host in w.hosts) >= 5:
            return
        id = f"{'zyxwvutsrq'[number % 10]}s{number}"
        host = Host(id, machine, 2000 + number, f"h{number}", self.policy(pick))
        if pick % 10 == 9:
            host.runs["Old"] = Agent("Old", "task")
        w.hosts.append(host)
        self.calm += 1
        w.join(host, wanted=wanted)

    @precondition(lambda self: self.one(0, lambda host: host.alive))
    @rule(pick=some.anyone, lies=some.rarely)
    def opens_again(self, pick: int, lies: bool) -> None:
        """A new bridge for a host that lives takes over what the session had."""
        host = self.one(pick, lambda host: host.alive)
        assert host is not None
        host.opens_again(f"{host.host_session}-{next(self.w.ids)}")
        self.w.join(host, [] if lies else None)

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, reason=some.reasons)
    def leaves(self, pick: int, reason: str) -> None:
        host = self.speaker(pick)
        self.w.leave(host, reason)
        host.bridged = host.alive = False

    @precondition(lambda self: self.one(0))
    @rule(who=st.integers(0, 2**6 - 1), ms=st.sampled_from((0, 100, 900, 2000, 2000)))
    def life_goes_on(self, who: int, ms: int) -> None:
        """Time passes; some of the living beat."""
        self.w.clock.step(ms)
        for i, host in enumerate([host for host in self.w.hosts if host.speaks]):
            if who >> (i % 6) & 1:
                self._beats(host)

    def _beats(self, host: Host, policy: str = "") -> None:
        verdict = self.w.beat_session(host, policy).verdict
        if verdict in ("unknown", "ended"):
            self.w.join(host, wanted=host.label)

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, to=some.anyone)
    def changes_its_policy(self, pick: int, to: int) -> None:
        self._beats(self.speaker(pick), self.policy(to))

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, how=st.sampled_from(("beat", "leave")))
    def errs(self, pick: int, how: str) -> None:
        """The word of another process changes nothing."""
        host = self.speaker(pick)
        if how == "beat":
            self.w.beat_session(host, instance="other")
        else:
            self.w.leave(host, instance="other")

    # --- agents

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, type=some.types, key=st.booleans(), eval=some.rarely, starts=st.booleans())
    def spawns(self, pick: int, type: str, key: bool, eval: bool, starts: bool) -> None:
        """The main conversation asks for an agent, which may start at once."""
        host = self.speaker(pick)
        self._spawns(host, Agent(f"A{next(self.w.ids)}" if key else "", type), "eval" if eval else "task", starts)

    @precondition(lambda self: self.one(0, lambda host: host.speaks and host.runs))
    @rule(pick=some.anyone, above=some.anyone, type=st.sampled_from(("review", "task")), starts=st.booleans())
    def spawns_below(self, pick: int, above: int, type: str, starts: bool) -> None:
        """A running agent asks for one."""
        host = self.one(pick, lambda host: host.speaks and host.runs)
        assert host is not None
        parent = list(host.runs)[above % len(host.runs)]
        self._spawns(host, Agent(f"{parent}.{next(self.w.ids)}", type, parent, "sub"), "task", starts)

    def _spawns(self, host: Host, agent: Agent, invocation: str, starts: bool) -> None:
        verdict = self.w.spawn(host, agent, invocation).verdict
        if verdict == "unknown":
            self.w.join(host, wanted=host.label)
        elif verdict == "approved":
            agent.unqueued = "eval" if invocation == "eval" else "none"
            host.asked.append(agent)
            if starts:
                self._starts(host, host.asked.pop())

    def _starts(self, host: Host, agent: Agent) -> None:
        agent.id = agent.id or f"B{next(self.w.ids)}"
        host.runs[agent.id] = agent
        self.w.started(host, agent)

    @precondition(lambda self: self.one(0, lambda host: host.speaks and host.asked))
    @rule(pick=some.anyone, which=some.anyone, other=some.rarely)
    def starts(self, pick: int, which: int, other: bool) -> None:
        """An approved one starts, perhaps late, perhaps under another id than was asked for."""
        host = self.one(pick, lambda host: host.speaks and host.asked)
        assert host is not None
        agent = host.asked.pop(which % len(host.asked))
        agent.id = "" if other else agent.id
        self._starts(host, agent)

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, which=some.anyone, type=some.types, old=st.booleans())
    def revives(self, pick: int, which: int, type: str, old: bool) -> None:
        """One starts that nobody asked for: woken, revived, or told twice."""
        host = self.speaker(pick)
        known = [*host.ended, *host.runs.values()]
        self._starts(host, known[which % len(known)] if old and known else Agent(f"R{next(self.w.ids)}", type))

    @precondition(lambda self: self.one(0, lambda host: host.speaks and host.runs))
    @rule(pick=some.anyone, which=some.anyone, ms=st.sampled_from((-1, -1, 0, 10, 499, 500)), lost=some.rarely)
    def ends(self, pick: int, which: int, ms: int, lost: bool) -> None:
        """A run ends, perhaps only to go on a little later; the word of it may be lost."""
        host = self.one(pick, lambda host: host.speaks and host.runs)
        assert host is not None
        agent = host.runs.pop(list(host.runs)[which % len(host.runs)])
        host.ended.append(agent)
        if not lost:
            self.w.agent_ended(host, agent.id)
        if ms >= 0:
            self.w.clock.step(ms)
            self._starts(host, agent)

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, lie=st.sampled_from(("", "", "lacks", "adds")), which=some.anyone)
    def lists(self, pick: int, lie: str, which: int) -> None:
        """What runs is listed; the list may lie once."""
        host = self.speaker(pick)
        agents = list(host.runs.values())
        if lie == "lacks" and agents:
            agents.pop(which % len(agents))
        elif lie == "adds" and host.ended:
            agents.append(host.ended[which % len(host.ended)])
        self.w.sync(host, agents)

    @precondition(lambda self: self.one(0))
    @rule(starts=st.booleans(), order=st.booleans())
    def everybody_spawns(self, starts: bool, order: bool) -> None:
        """Each session asks for one of the usual type."""
        for host in [host for host in self.w.hosts if host.speaks][:: 1 if order else -1]:
            self._spawns(host, Agent(f"A{next(self.w.ids)}", "task"), "task", starts)

    @precondition(lambda self: self.one(0, lambda host: host.speaks and host.runs))
    @rule(pick=some.anyone)
    def one_is_done(self, pick: int) -> None:
        """All agents of a session end for good, and everybody beats. (Long histories of a paused board show little.)"""
        host = self.one(pick, lambda host: host.speaks and host.runs)
        assert host is not None
        for id in list(host.runs):
            self.w.agent_ended(host, id)
            host.ended.append(host.runs.pop(id))
        if self.w.model.paused:
            self.w.resume(host.machine)
        self.w.clock.step(3000 if self.w.model.settling else 500)
        for other in [other for other in self.w.hosts if other.speaks]:
            self._beats(other)

    @precondition(lambda self: self.held())
    @rule(pick=some.anyone, ms=st.sampled_from((0, 500, 3000)))
    def a_holder_spawns(self, pick: int, ms: int) -> None:
        """Who was told of a hold asks again, perhaps too late."""
        self.w.clock.step(ms)
        held = self.held()
        host = held[pick % len(held)]
        self._spawns(host, Agent("", "task"), "task", starts=True)

    def held(self) -> list[Host]:
        sessions = {place.session for place in self.w.model.line.values() if place.held}
        return [host for host in self.w.hosts if host.speaks and host.id in sessions]

    # --- line and pause

    @precondition(lambda self: self.w.model.line)
    @rule(pick=some.anyone, all=st.booleans())
    def leaves_the_line(self, pick: int, all: bool) -> None:
        places = list(self.w.model.line.values())
        place = places[pick % len(places)]
        host = self.one(0, lambda host: host.id == place.session)
        if host is not None:
            self.w.leave_line(host, "" if all else place.queue)

    @precondition(lambda self: self.w.hosts)
    @rule(machine=some.machines, label=st.sampled_from(("", "A")), reason=st.sampled_from(("", "lunch", "merge")))
    def pauses(self, machine: str, label: str, reason: str) -> None:
        if self.calm > 2:
            self.w.pause(machine, label, reason)
            self.calm = 0

    @precondition(lambda self: self.w.model.paused)
    @rule(machine=some.machines)
    def resumes(self, machine: str) -> None:
        self.w.resume(machine)

    # --- deaths

    @precondition(lambda self: self.one(0))
    @rule(pick=some.anyone, bridge=st.booleans())
    def dies(self, pick: int, bridge: bool) -> None:
        """The host dies, or only its bridge."""
        host = self.speaker(pick)
        if pick % 3:
            return
        host.bridged = False
        host.alive = bridge
        self.w.listen(host.id, on=False)

    @precondition(lambda self: self.w.model.sessions)
    @rule(pick=some.anyone, count=st.integers(1, 3), lie=st.sampled_from(("",) * 7 + ("gone", "live", "bridgeless")),
          wrong=some.mistakes, machine=some.machines)  # fmt: skip
    def is_looked_at(self, pick: int, count: int, lie: str, wrong: str, machine: str) -> None:
        """Somebody vouches for what it saw in the process table: the dead first."""
        known = self.w.model.sessions
        there = sorted((host for host in self.w.hosts if host.id in known), key=lambda host: host.speaks)
        seen = [host.seen(lie) for host in there[pick % 2 :][:count]]
        for one in seen if wrong else []:
            one[wrong] = {"pid": 1, "start": "0", "instance": "?"}[wrong]
        self.w.vouches[machine] = seen

    @precondition(lambda self: self.w.model.epoch)
    @rule(machine=some.machines)
    def sweeps(self, machine: str) -> None:
        self.w.sweep(machine)

    # --- accidents

    @precondition(lambda self: self.calm > 3)
    @rule(what=st.sampled_from(("sleep", "flush", "save")), ms=some.sleeps)
    def something_happens(self, what: str, ms: int) -> None:
        """Everything sleeps for a while, somebody flushes the server, or the server writes its disk."""
        self.calm = 0
        if what == "sleep":
            self.w.clock.step(ms)
        elif what == "flush":
            self.w.flush()
            for host in self.w.hosts[:3]:
                if host.speaks:
                    self._beats(host)
        else:
            self.saved = self.w.save()

    @precondition(lambda self: self.saved is not None)
    @rule()
    def the_server_loses_what_was_not_written(self) -> None:
        """Killed and back with what was on its disk; every living session joins again with what it really has."""
        self.w.load(self.saved)
        self.saved = None
        self.w.clock.step(1001)
        for host in self.w.hosts:
            if host.speaks:
                self.w.join(host, wanted=host.label)
