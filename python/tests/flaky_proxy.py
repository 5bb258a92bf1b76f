"""A proxy between a client and a server that drops or cuts requests, as a function decides."""

import contextlib
import socket
import threading

UNAVAILABLE = (b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
               b"%bConnection: keep-alive\r\n\r\nlater")


def read_message(connection):
    """The bytes of a request or an answer with a Content-Length; empty at the end of the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        more = connection.recv(65536)
        if not more:
            return b""
        body += more
    return head + b"\r\n\r\n" + body


class Listener:
    """Accepts connections on a free port. A subclass serves each in a thread, by ``_serve(client)``."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        # Only a shutdown wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._try, args=(self._listener.accept()[0],), daemon=True).start()

    def _try(self, client):
        with client, contextlib.suppress(OSError):
            self._serve(client)


class FlakyProxy(Listener):
    """``choose(request)`` says what becomes of each: pass, drop (it never arrives), lose (it arrives, the answer is
    lost), cut (in the middle of the answer), hang (no answer until the client gives up), or 503."""

    def __init__(self, port, choose, retry_after=None):
        self._server_port, self._choose = port, choose
        self._after = b"Retry-After: %d\r\n" % retry_after if retry_after is not None else b""
        self.requests = []
        self.came = threading.Semaphore(0)  # once for each request
        self.gave_up = threading.Semaphore(0)  # once for each client that did not wait
        super().__init__()

    def _serve(self, client):
        while self._serve_one(client):
            pass

    def _serve_one(self, client):
        request = read_message(client)
        if not request:
            return False
        self.requests.append(request)
        self.came.release()
        what = self._choose(request)
        if what == "503":
            client.sendall(UNAVAILABLE % self._after)
            return True
        if what == "drop":
            return False
        answer = self._ask(request)
        if what == "hang":
            client.recv(1)  # returns when the client has given up
            self.gave_up.release()
            return False
        if what == "cut":
            client.sendall(answer[: len(answer) - 7])
        if what == "pass":
            client.sendall(answer)
        return what == "pass"

    def _ask(self, request):
        with socket.create_connection(("127.0.0.1", self._server_port)) as server:
            server.sendall(request)
            return read_message(server)
