"""Starts the embedded server and watches it: `python -I -S guard.py SOCKET LOCK PIDS LOG IDLE [PROGRAM
ARG…]`.

Stands alone (nothing of this package is imported), so that it costs little while it waits. Run in a new
session with its working directory, standard streams and environment already set. It comes back as two
processes that are nobody's children: the server, and the guard, which stops the server once no client has
used it for IDLE seconds and ends with it. Without PROGRAM it guards the server that PIDS names.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import fcntl
import os
import select
import sys
import time

LOG_LIMIT = 1_000_000
LOG_FILES = 3


def main(argv: list[str]) -> None:
    path, lock, pids, log, idle = argv[:5]
    reset()
    server = launch(pids, argv[5:]) if argv[5:] else attach(pids)
    for signo in (_signal.SIGHUP, _signal.SIGPIPE):
        _signal.signal(signo, _signal.SIG_IGN)
    Guard(path, lock, log, float(idle), server).watch()


def reset() -> None:
    """Undoes what whoever was first to need the server may have passed on: masks, ignored signals, limits,
    umask."""
    import resource

    for signo in _signal.valid_signals():
        try:
            _signal.signal(signo, _signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # KILL, STOP and those that the C library keeps
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    os.umask(0o077)
    for name in ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_DATA"):
        hard = resource.getrlimit(getattr(resource, name))[1]
        resource.setrlimit(getattr(resource, name), (hard, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def launch(pids: str, program: list[str]) -> tuple[int, str]:
    """Starts the server and returns in the guard, as (pid, start time) of the server; the caller itself ends
    here."""
    gate, opener = os.pipe()
    server = os.fork()
    if server == 0:
        os.close(opener)
        # Only when PIDS names it may it run: no byte means that the one who writes PIDS was killed before.
        if os.read(gate, 1):
            os.close(gate)
            try:
                os.execv(program[0], program)  # noqa: S606 - no shell is wanted
            except OSError as error:
                os.write(2, f"{program[0]}: {error.strerror}\n".encode())
        os._exit(127)
    guard = os.fork()
    if guard == 0:
        os.close(gate)
        os.close(opener)
        return server, started(server)
    write_pids(pids, {"server": (server, started(server)), "guard": (guard, started(guard))})
    os.write(opener, b"x")
    os._exit(0)


def attach(pids: str) -> tuple[int, str]:
    """Returns in a guard for the server that PIDS names; the caller itself ends here."""
    with open(pids, encoding="ascii", errors="replace") as file:
        lines = {name: rest for name, _, rest in (line.rstrip("\n").partition(" ") for line in file)}
    pid, _, start = lines["server"].partition(" ")
    guard = os.fork()
    if guard:
        write_pids(pids, {"server": (int(pid), start), "guard": (guard, started(guard))})
        os._exit(0)
    return int(pid), start


def write_pids(path: str, pids: dict[str, tuple[int, str]]) -> None:
    mine = f"{path}.{os.getpid()}"
    with open(mine, "w", encoding="ascii") as file:
        file.writelines(f"{name} {pid} {start}\n" for name, (pid, start) in pids.items())
    os.replace(mine, path)


def started(pid: int) -> str:
    """Field 22 of its stat, "" where there is none (macOS) or it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return ""


class Guard:
    """Watches one server until it is gone."""

    def __init__(self, path: str, lock: str, log: str, idle: float, server: tuple[int, str]) -> None:
        self.path, self.lock, self.log, self.idle = path, lock, log, idle
        self.pid, self.start = server
        self.tick = min(10.0, idle / 10)
        self.place: tuple[int, int] | None = None
        self.sock: _socket.socket | None = None
        self.connections = -1
        self.pause = 0.01
        self.used = time.monotonic()

    def watch(self) -> None:
        """Returns when the server is gone, by itself or because it was stopped here."""
        while self.alive():
            if self.cut_off():
                self.terminate()
            if self.sock is None:
                self.connect()
            if self.sock is None:
                # Still starting, or its socket was removed from under it: ever more rarely then, but not
                # never.
                time.sleep(self.pause)  # a socket that comes gives no event
                self.pause = min(self.pause * 2, self.tick)
                continue
            self.pause = 0.01
            # The end of the connection wakes this at once, so no guard outlives its server by more than a
            # moment.
            poll = select.poll()
            poll.register(self.sock.fileno(), select.POLLIN)
            if poll.poll(self.tick * 1000):
                self.disconnect()
                time.sleep(0.01)  # its process may need a moment to go
                continue
            self.look()

    def look(self) -> None:
        self.rotate()
        if self.in_use():
            self.used = time.monotonic()
        # A monotonic clock stands still while the machine sleeps: a laptop that was shut for a week is not
        # idle.
        elif time.monotonic() - self.used >= self.idle:
            self.stop()

    def stop(self) -> None:
        """Stops the server unless somebody came meanwhile; under the lock, so that whoever needs it waits and
        starts it anew instead of meeting one that is about to go."""
        with open(self.lock, "a", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if self.in_use():
                self.used = time.monotonic()
                return
            self.call(b"SHUTDOWN")
            end = time.monotonic() + 10
            while self.alive() and time.monotonic() < end:
                time.sleep(0.01)  # it is no child of ours, so nobody tells of its end

    def in_use(self) -> bool:
        """Whether there are clients besides this guard, or there were some since the last look."""
        values = {}
        for line in self.call(b"INFO").split(b"\r\n"):
            name, _, value = line.partition(b":")
            values[name] = value
        clients, connections = values.get(b"connected_clients"), values.get(b"total_connections_received")
        if clients is None or connections is None:
            return True  # no answer is no proof of idleness
        before, self.connections = self.connections, int(connections)
        return int(clients) > 1 or before not in (-1, self.connections)

    def call(self, line: bytes) -> bytes:
        """The answer to an inline command, b"" when the connection ended instead."""
        if self.sock is None:
            return b""
        try:
            self.sock.settimeout(10)
            self.sock.send(line + b"\r\n")
            return self.answer()
        except OSError:
            self.disconnect()
            return b""

    def answer(self) -> bytes:
        assert self.sock is not None
        data = self.receive()
        if data[:1] != b"$":
            return data
        while b"\r\n" not in data:
            data += self.receive()
        head, _, body = data.partition(b"\r\n")
        while len(body) < int(head[1:]) + 2:
            body += self.receive()
        return body

    def receive(self) -> bytes:
        assert self.sock is not None
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionResetError
        return data

    def connect(self) -> None:
        place = self.place_of()
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            sock.settimeout(10)
            sock.connect(self.path)
        except OSError:
            sock.close()
            return
        if self.is_another(sock):
            sock.close()
            self.terminate()
            return
        if place is None or place != self.place_of():
            sock.close()  # it was made, or replaced, while we connected: to which of the two, the next try tells
            return
        self.sock, self.place = sock, place
        self.connections = -1  # this connection of our own counts for nothing

    def cut_off(self) -> bool:
        """Whether newcomers cannot find the server any more (its folder was removed) and start another one, whom those
        that are connected here would never meet. Without this one they come along."""
        if self.sock is None:
            return not os.path.isdir(os.path.dirname(self.path))
        return self.place_of() != self.place

    def is_another(self, sock: _socket.socket) -> bool:
        """Whether a successor answers there."""
        option = getattr(_socket, "SO_PEERCRED", None)
        if option is None:
            return False  # macOS does not say
        pid = int.from_bytes(sock.getsockopt(_socket.SOL_SOCKET, option, 12)[:4], sys.byteorder)
        return pid not in (0, self.pid)

    def terminate(self) -> None:
        try:
            # Not TERM: at an orderly end it would remove the socket at its path, which may be its successor's by now. The
            # file of its data is written before each answer.
            os.kill(self.pid, _signal.SIGKILL)
        except ProcessLookupError:
            pass  # it went by itself

    def place_of(self) -> tuple[int, int] | None:
        """Which file the socket's path leads to."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def disconnect(self) -> None:
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def alive(self) -> bool:
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            return fields[0] not in (b"Z", b"X") and self.start in ("", fields[19].decode())
        except OSError:
            if os.path.exists("/proc/self/stat"):
                return False
        try:
            os.kill(self.pid, 0)
        except OSError:
            return False
        return True

    def rotate(self) -> None:
        """The server opens its log anew for every line, so a full one is simply moved out of its way."""
        try:
            if os.stat(self.log).st_size < LOG_LIMIT:
                return
            for number in range(LOG_FILES - 1, 0, -1):
                older = f"{self.log}.{number - 1}" if number > 1 else self.log
                if os.path.exists(older):
                    os.replace(older, f"{self.log}.{number}")
        except OSError:
            pass  # a log that can't be rotated is no reason to leave the server alone


if __name__ == "__main__":
    main(sys.argv[1:])
