"""Servers in a group, for tests: a Redis Cluster, and a master with its replica under a Sentinel."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Any

from coord.errors import CoordError
from coord.wire import connect
from tests.servers import Server, as_node, free_port, need
from tests.waiting import until

SLOTS = 16384


class Cluster:
    """A cluster of `count` masters, each with its part of the slots."""

    def __init__(self, kind: str, folder: str, count: int = 3) -> None:
        self.nodes: list[Server] = []
        for number in range(count):
            place = os.path.join(folder, str(number))
            os.mkdir(place)
            self.nodes.append(Server(kind, *as_node(kind), "--cluster-node-timeout", "2000", folder=place))
        self.links: list[Any] = [connect(node.url) for node in self.nodes]
        self._join()

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def _join(self) -> None:
        size = SLOTS // len(self.links) + 1
        for number, link in enumerate(self.links):
            link.call("CLUSTER", "ADDSLOTSRANGE", number * size, min((number + 1) * size, SLOTS) - 1)
            link.call("CONFIG", "SET", "cluster-require-full-coverage", "no")
        for node in self.nodes[1:]:
            bus = node.extra[node.extra.index("--cluster-port") + 1]
            self.links[0].call("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
        until(self._whole, "all nodes know the whole cluster", 90)

    def _whole(self) -> bool:
        told = [str(link.call("CLUSTER", "INFO")) for link in self.links]
        return all("cluster_state:ok" in text and f"cluster_slots_ok:{SLOTS}" in text for text in told)

    def keys_by_node(self, pattern: str) -> list[list[str]]:
        """The keys that each node holds."""
        return [sorted(link.call("KEYS", pattern)) for link in self.links]

    def close(self) -> None:
        for link in self.links:
            link.close()
        for node in self.nodes:
            node.kill()


class Watched:
    """A master, its replica, and a Sentinel that makes the replica the master when the master is gone."""

    SERVICE = "main"

    def __init__(self, kind: str, folder: str) -> None:
        for name in ("one", "two", "watch"):
            os.mkdir(os.path.join(folder, name))
        self.master = Server(kind, folder=os.path.join(folder, "one"))
        self.replica = Server(
            kind, "--replicaof", "127.0.0.1", str(self.master.port), "--repl-diskless-load", "on-empty-db",
            folder=os.path.join(folder, "two"),
        )  # fmt: skip
        self.port = free_port()
        self.sentinel = self._watch(need(kind), os.path.join(folder, "watch"))
        until(self._ready, "the Sentinel knows master and replica", 90)

    @property
    def url(self) -> str:
        return f"redis+sentinel://127.0.0.1:{self.port}/{self.SERVICE}"

    def _watch(self, program: str, folder: str) -> subprocess.Popen[bytes]:
        path = os.path.join(folder, "conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(
                f"port {self.port}\nbind 127.0.0.1\ndir {folder}\nlogfile {folder}/log\n"
                f"sentinel monitor {self.SERVICE} 127.0.0.1 {self.master.port} 1\n"
                f"sentinel down-after-milliseconds {self.SERVICE} 1500\n"
                f"sentinel failover-timeout {self.SERVICE} 2000\n"
            )
        return subprocess.Popen([program, path, "--sentinel"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def ask(self, *words: object) -> Any:
        with contextlib.closing(connect(f"redis://127.0.0.1:{self.port}")) as link:
            return link.call(*words)

    def master_port(self) -> int:
        return int(self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.SERVICE)[1])

    def _ready(self) -> bool:
        try:
            known = self.ask("SENTINEL", "REPLICAS", self.SERVICE)
        except CoordError:
            return False
        with contextlib.closing(connect(self.replica.url)) as link:
            in_step = "master_link_status:up" in str(link.call("INFO", "replication"))
        return in_step and any(one["flags"] == "slave" for one in known)

    def fail_over(self) -> None:
        """Kills the master; returns when the replica is the master."""
        self.master.kill()
        until(
            lambda: self.master_port() == self.replica.port, "the Sentinel named another master", 90
        )  # a Sentinel whose clock jumped trusts itself 30 s later only

    def close(self) -> None:
        self.sentinel.kill()
        self.sentinel.wait()
        self.master.kill()
        self.replica.kill()


class Tls:
    """A server that speaks TLS on `port`, with a certificate for 127.0.0.1 that nobody signed but itself."""

    def __init__(self, kind: str, folder: str) -> None:
        self.port = free_port()
        self.certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", self.certificate,
             "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True,
        )  # fmt: skip
        self.server = Server(
            kind, "--tls-port", str(self.port), "--tls-cert-file", self.certificate, "--tls-key-file", key,
            "--tls-auth-clients", "no", folder=folder,
        )  # fmt: skip

    @property
    def url(self) -> str:
        return f"rediss://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.server.kill()


def speaks_tls(kind: str) -> bool:
    """Whether this machine's program of that kind was built with TLS."""
    done = subprocess.run(
        [need(kind), "--port", "0", "--tls-port", "1", "--dir", "/tmp"], capture_output=True, check=False
    )
    return b"tls-cert-file" in done.stdout
