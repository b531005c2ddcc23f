"""A server that lies, stalls or floods: one clear error each, soon, and nothing kept."""

import contextlib
import hashlib
import socket
import threading
import time

import pytest

from voc_seg_tfrecord.sources import fetcher
from voc_seg_tfrecord.sources.fetcher import Transfer, TransferError

BODY = b"the archive" * 5000
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@pytest.fixture
def serve():
    """Starts a server that answers with what `answer(send)` sends; returns its address."""
    listening = []

    def start(answer):
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)

        def work():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    with contextlib.suppress(OSError):  # the client has hung up
                        answer(connection.sendall)

        threading.Thread(target=work, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/a.tar"

    yield start
    for server in listening:
        server.close()


def flood(send):
    send(OK + b"\r\n")
    while True:
        send(bytes(1 << 16))


def drip(send):
    send(OK + b"\r\n")
    while True:  # until the client hangs up
        send(b"x")
        time.sleep(0.1)


def drip_headers(send):
    send(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        send(b"x")
        time.sleep(0.1)


def stall(send):
    send(OK + b"\r\n" + BODY[:20])
    threading.Event().wait()


def silence(send):
    del send
    threading.Event().wait()


def plain(head, body=BODY):
    return lambda send: send(head + b"\r\n" + body)


PAGE = b"<html>moved</html>"
LIES = {
    "a flood": (flood, "more than the archive's 55000 bytes"),
    "a drip": (drip, "given up"),
    "a drip of headers": (drip_headers, "given up"),
    "a stalled body": (stall, "given up|no answer"),
    "silence": (silence, "given up|no answer"),
    "a longer length": (plain(OK + b"Content-Length: 99999\r\n"), "99999 bytes"),
    "a length that is cut": (plain(OK + b"Content-Length: 55000\r\n", BODY[:99]), "99|no answer"),
    "fewer bytes": (plain(OK, BODY[:-1]), "54999 bytes instead of the archive's 55000"),
    "a page": (plain(OK + b"Content-Type: text/html\r\nContent-Length: 18\r\n", PAGE), "text/html"),
    "a redirect to a file": (
        plain(b"HTTP/1.1 302 X\r\nLocation: file:///etc/passwd\r\n"),
        "InvalidSchema",
    ),
    "a circle": (
        plain(
            b"HTTP/1.1 302 X\r\nConnection: close\r\nLocation: /a.tar\r\nContent-Length: 0\r\n", b""
        ),
        "redir",
    ),
    "no HTTP": (lambda send: send(b"\0" * 100), "no answer"),
    "an error page": (
        plain(b"HTTP/1.1 503 X\r\nConnection: close\r\nContent-Length: 0\r\n", b""),
        "HTTP 503",
    ),
    "a packed bomb": (plain(OK + b"Content-Encoding: gzip\r\n", b"\x1f\x8b" + BODY), "no answer"),
}


@pytest.mark.parametrize(("answer", "words"), LIES.values(), ids=LIES)
def test_a_server_that_lies_is_one_error_and_is_not_waited_for(
    answer, words, serve, tmp_path, monkeypatch
):
    monkeypatch.setattr(fetcher, "_PAUSE_SECONDS", 0)
    if answer in (drip, drip_headers, stall, silence):
        monkeypatch.setattr(fetcher, "STALL_SECONDS", 0.3)
    with pytest.raises(TransferError, match=words):
        Transfer(serve(answer), tmp_path / "a", len(BODY)).run()
    path = tmp_path / "a"
    assert not path.exists() or path.stat().st_size <= len(BODY)


@pytest.mark.parametrize(
    "length", [b"", b"Content-Length: 55000\r\n", b"Content-Length: abc\r\n"], ids=repr
)
def test_the_right_bytes_are_taken_whatever_their_length_is_called(length, serve, tmp_path):
    address = serve(plain(OK + length))
    assert Transfer(address, tmp_path / "a", len(BODY)).run() == hashlib.sha256(BODY).hexdigest()
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_server_that_is_busy_is_asked_again(serve, tmp_path, monkeypatch):
    monkeypatch.setattr(fetcher, "_PAUSE_SECONDS", 0)
    busy = plain(b"HTTP/1.1 503 X\r\nConnection: close\r\nContent-Length: 0\r\n", b"")
    answers = iter([busy, busy, plain(OK)])
    Transfer(serve(lambda send: next(answers)(send)), tmp_path / "a", len(BODY)).run()
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_server_that_is_not_there_is_a_short_line(tmp_path, monkeypatch):
    monkeypatch.setattr(fetcher, "_PAUSE_SECONDS", 0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(TransferError) as caught:
        Transfer(f"http://127.0.0.1:{port}/x", tmp_path / "x", 5).run()
    assert "Connection refused" in str(caught.value)
    assert len(str(caught.value)) < 80
