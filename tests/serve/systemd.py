"""systemd.py EENET: the server under systemd, which this program plays: it is told when the server is ready, reloads and stops,
is fed its watchdog, and hands over a socket that listens already."""
import os
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LIMIT, Server, scratch_folder  # noqa: E402


def main():
    with scratch_folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mailbox, \
            socket.create_server(("127.0.0.1", 0)) as listening:
        mailbox.bind(str(folder / "mailbox"))
        mailbox.settimeout(LIMIT)
        os.environ.update(NOTIFY_SOCKET=str(folder / "mailbox"), WATCHDOG_USEC="400000", LISTEN_FDS="1")
        server = Server(sys.argv[1], folder / "data", port=1)
        server.port = listening.getsockname()[1]
        # As systemd starts it: the socket is descriptor 3, and the variables say so.
        server.prefix = ["sh", "-c", f'LISTEN_PID=$$ exec "$@" 3<&{listening.fileno()}', "sh"]
        server.inherited = [listening.fileno()]
        server.launch()

        def expect(begin):
            """Waits for a message that begins so; others may come before it."""
            while not mailbox.recv(512).startswith(begin):
                pass

        expect(b"READY=1")
        server.call("GET", "/readyz")
        expect(b"WATCHDOG=1")
        expect(b"WATCHDOG=1")
        server.send_signal(signal.SIGHUP)
        expect(b"RELOADING=1\nMONOTONIC_USEC=")
        expect(b"READY=1")
        server.send_signal(signal.SIGTERM)
        expect(b"STOPPING=1")
        if server.process.wait():
            sys.exit(f"it did not end well: {server.said()}")


if __name__ == "__main__":
    main()
