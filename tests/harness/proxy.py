"""A TCP proxy between one server and its database, with faults that a network has.

    proxy = Proxy([5432, 5433])       # listens on proxy.ports, in the same order
    proxy.cut()                       # closes all connections; new ones are accepted
    proxy.refuse()                    # closes all connections, and new ones at once
    proxy.hang()                      # accepts, and forwards nothing in either direction
    proxy.delay(0.3)                  # forwards each piece this much later
    proxy.restore()
    proxy.close()
"""
import collections
import contextlib
import heapq
import selectors
import socket
import threading
import time

PIECE = 65536
MOST_WAITING = 1 << 20  # bytes in one direction: above, the sender has to wait


class Link:
    """One direction of a connection: what was read from `source` and is still to be written to `target`."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.pieces = collections.deque()  # (due, bytes)
        self.waiting = 0
        self.ended = False  # the source has sent its last byte
        self.finished = False  # the target knows it


class Proxy:
    """One thread with a selector. The calls are safe from any thread."""

    def __init__(self, targets):
        self.targets = {}
        self.ports = []
        self.lock = threading.RLock()
        self.selector = selectors.DefaultSelector()
        self.links = {}  # socket -> (link that reads from it, link that writes to it)
        self.refusing = self.hanging = self.closed = False
        self.latency = 0.0
        self.order = 0
        self.due = []  # (time, order, link) of delayed pieces
        self.wake_read, self.wake_write = socket.socketpair()
        self.wake_read.setblocking(False)
        self.selector.register(self.wake_read, selectors.EVENT_READ)
        for target in targets:
            listener = socket.create_server(("127.0.0.1", 0), backlog=64)
            listener.setblocking(False)
            self.targets[listener] = target
            self.ports.append(listener.getsockname()[1])
            self.selector.register(listener, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    # ---- faults ----

    def cut(self):
        with self.lock:
            for pair in set(self.links.values()):
                self.drop(pair[0].source)
        self.wake()

    def refuse(self):
        with self.lock:
            self.refusing = True
        self.cut()

    def hang(self):
        with self.lock:
            self.hanging = True
        self.wake()

    def delay(self, seconds):
        with self.lock:
            self.latency = seconds
        self.wake()

    def restore(self):
        with self.lock:
            self.refusing = self.hanging = False
            self.latency = 0.0
        self.wake()

    def close(self):
        with self.lock:
            self.closed = True
        self.wake()
        self.thread.join()
        for listener in self.targets:
            listener.close()
        for connection in list(self.links):
            connection.close()
        self.wake_read.close()
        self.wake_write.close()
        self.selector.close()

    def wake(self):
        with contextlib.suppress(BlockingIOError):
            self.wake_write.send(b"!")

    # ---- forwarding: in the proxy's thread, with the lock ----

    def run(self):
        while True:
            with self.lock:
                if self.closed:
                    return
                self.flush_due()
                for connection in list(self.links):
                    self.watch(connection)
                pause = max(self.due[0][0] - time.monotonic(), 0) if self.due and not self.hanging else 1
            for key, events in self.selector.select(min(pause, 1)):
                with self.lock:
                    self.handle(key.fileobj, events)

    def handle(self, ready, events):
        if ready is self.wake_read:
            with contextlib.suppress(BlockingIOError):
                ready.recv(4096)
        elif ready in self.targets:
            self.accept(ready)
        elif ready in self.links and not self.hanging:
            if events & selectors.EVENT_READ:
                self.read(ready)
            if events & selectors.EVENT_WRITE and ready in self.links:
                self.write(self.links[ready][1])

    def accept(self, listener):
        try:
            client, _ = listener.accept()
        except OSError:
            return
        if self.refusing:
            client.close()
            return
        try:
            server = socket.create_connection(("127.0.0.1", self.targets[listener]), timeout=2)
        except OSError:
            client.close()
            return
        there, back = Link(client, server), Link(server, client)
        for connection, pair in ((client, (there, back)), (server, (back, there))):
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.links[connection] = pair
            self.selector.register(connection, selectors.EVENT_READ)

    def watch(self, connection):
        """What to wait for. A hung connection waits for nothing."""
        reads, writes = self.links[connection]
        events = 0
        if not self.hanging:
            if not reads.ended and reads.waiting < MOST_WAITING:
                events |= selectors.EVENT_READ
            if writes.pieces and writes.pieces[0][0] <= time.monotonic():
                events |= selectors.EVENT_WRITE
        registered = self.selector.get_map().get(connection)
        if registered is None and events:
            self.selector.register(connection, events)
        elif registered is not None and not events:
            self.selector.unregister(connection)
        elif registered is not None and registered.events != events:
            self.selector.modify(connection, events)

    def read(self, source):
        link = self.links[source][0]
        try:
            piece = source.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            self.drop(source)
            return
        if not piece:
            link.ended = True
        else:
            due = time.monotonic() + self.latency
            link.pieces.append((due, piece))
            link.waiting += len(piece)
            if self.latency:
                self.order += 1
                heapq.heappush(self.due, (due, self.order, link))
        self.write(link)

    def write(self, link):
        while link.pieces and link.pieces[0][0] <= time.monotonic():
            due, piece = link.pieces.popleft()
            try:
                sent = link.target.send(piece)
            except BlockingIOError:
                sent = 0
            except OSError:
                self.drop(link.target)
                return
            link.waiting -= sent
            if sent < len(piece):
                link.pieces.appendleft((due, piece[sent:]))
                return
        if link.ended and not link.pieces and not link.finished:
            link.finished = True
            with contextlib.suppress(OSError):
                link.target.shutdown(socket.SHUT_WR)
            if self.links[link.target][0].finished:
                self.drop(link.target)

    def flush_due(self):
        while self.due and not self.hanging and self.due[0][0] <= time.monotonic():
            link = heapq.heappop(self.due)[2]
            if link.target in self.links:
                self.write(link)

    def drop(self, connection):
        """Both ends, with a reset, and what was under way."""
        if connection not in self.links:
            return
        for end in (connection, self.links[connection][0].target):
            self.links.pop(end, None)
            with contextlib.suppress(KeyError):
                self.selector.unregister(end)
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            end.close()
