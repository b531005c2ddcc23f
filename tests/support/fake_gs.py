"""A server of Google Cloud Storage on loopback, for every library here that reads gs://.

gcsfs takes the address of another server from the environment. TensorFlow's own file system does
not, so the server is an HTTPS proxy too, with a certificate of its own.
"""

from collections.abc import Iterator, Mapping
import contextlib
import functools
from http import server
import logging
import pathlib
import ssl
import threading
from urllib import parse

from gcp_storage_emulator import server as emulator
from gcp_storage_emulator.handlers import objects
from gcp_storage_emulator.storage import Storage
import trustme

BUCKET = "voc"


class Bucket:
    """The bucket that is there, and what other processes need to reach it.

    Attributes:
      environment: environment variables.
      url: its address.
    """

    url = f"gs://{BUCKET}"

    def __init__(self, storage: Storage, environment: Mapping[str, str]):
        self._storage = storage
        self.environment = environment

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder and below it."""
        found, _ = self._storage.get_file_list(BUCKET, f"{folder}/")
        return sorted(one["name"].removeprefix(f"{folder}/") for one in found if one["size"] != "0")

    def read(self, name: str) -> bytes:
        """Returns a file's content."""
        return self._storage.get_file(BUCKET, name)

    def write(self, name: str, content: bytes) -> None:
        """Writes a file."""
        about = objects._make_object_resource("", BUCKET, name, "", str(len(content)))
        self._storage.create_file(BUCKET, name, content, objects._checksums(content, about))

    def remove(self, name: str) -> None:
        """Removes a file."""
        self._storage.delete_file(BUCKET, name)


@contextlib.contextmanager
def serve(folder: pathlib.Path) -> Iterator[Bucket]:
    """Serves an empty bucket.

    Args:
      folder: where the certificate may lie.
    """
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    authority.issue_cert("*.googleapis.com").configure_cert(tls)
    storage = Storage(use_memory_fs=True)
    storage.create_bucket(BUCKET, {"name": BUCKET})
    handler = functools.partial(_Handler, storage, tls)
    with server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{http.server_port}"
        logging.getLogger("gcp_storage_emulator").setLevel(logging.CRITICAL)
        yield Bucket(storage, _environment(address, folder))
        http.shutdown()


def _environment(address: str, folder: pathlib.Path) -> dict[str, str]:
    return {
        "STORAGE_EMULATOR_HOST": address,  # gcsfs
        "NO_GCE_CHECK": "true",  # no library asks whether this machine is one of Google's
        "no_proxy": "127.0.0.1",
        "http_proxy": address,  # TensorFlow
        "https_proxy": address,
        "CURL_CA_BUNDLE": str(folder / "authority.pem"),
        "GOOGLE_AUTH_TOKEN_FOR_TESTING": "none",
    }


class _Handler(emulator.RequestHandler):
    """The emulator's, with what TensorFlow needs beyond it."""

    protocol_version = "HTTP/1.1"
    _lock = threading.Lock()  # the emulator has one thread, and none of its own

    def __init__(self, storage: Storage, tls: ssl.SSLContext, *args):
        self._tls = tls
        super().__init__(storage, *args)

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        # A proxy is given whole addresses; where the emulator has one to go on with it says http.
        self.path = parse.urlsplit(self.path)._replace(scheme="", netloc="").geturl()
        if self.headers["Transfer-Encoding"] == "chunked":
            del self.headers["Content-Length"]  # TensorFlow gives both
        return True

    def do_CONNECT(self) -> None:  # noqa: N802
        self.send_response(200)
        self.end_headers()
        self.connection = self._tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", 0)
        self.close_connection = False

    def finish(self) -> None:
        super().finish()
        self.connection.close()  # the socket of TLS, which the server does not know of

    def do_GET(self) -> None:  # noqa: N802
        if self.path.endswith("/storageLayout"):
            answer = b'{"hierarchicalNamespace": {"enabled": false}}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        else:
            self._answer(super().do_GET)

    def do_POST(self) -> None:  # noqa: N802
        self._answer(super().do_POST)

    def do_PUT(self) -> None:  # noqa: N802
        self._answer(super().do_PUT)

    def do_DELETE(self) -> None:  # noqa: N802
        self._answer(super().do_DELETE)

    def _answer(self, how) -> None:
        with self._lock, contextlib.suppress(ConnectionError):
            how()


def _read_data(handler, query, read=emulator._read_data):
    return read(handler, query) or b""  # the emulator stumbles over an upload of nothing


emulator._read_data = _read_data
