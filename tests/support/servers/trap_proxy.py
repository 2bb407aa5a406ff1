"""A proxy on loopback that records every host a program asks for, and reaches none of them.

Its `environ` names it as the proxy of all addresses. A server of the test answers in place of each
host: the proxy ends the encryption itself, with certificates that the program is told to trust.

```
with TrapProxy(folder, server.root) as trap:
    Program(home, environ=tuple(trap.environ.items())).json("ask", "What is red?")
    assert trap.hosts == {"api.openai.com"}
```
"""

import datetime
import select
import socket
import socketserver
import ssl
import threading
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["TrapProxy"]

_READ_BYTES = 1 << 16
_IDLE_S = 30.0


class TrapProxy:
    """The proxy: a context manager that records while its context is entered.

    Attributes:
        asked: each host that was asked for, in order.
        environ: the variables that lead a program here.
    """

    def __init__(self, folder: Path, answering: str) -> None:
        """Start to listen.

        Args:
            folder: where the certificates are written.
            answering: the address of the server that answers in place of every host.
        """
        self.asked: list[str] = []
        parts = urlsplit(answering)
        self.answering = (str(parts.hostname), int(parts.port or 80))
        self._authority = _Authority(folder)
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self._server = _Server(self)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        address = f"http://127.0.0.1:{self.port}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        self.environ = dict.fromkeys(names, address)
        self.environ |= {"SSL_CERT_FILE": str(self._authority.file), "NO_PROXY": "", "no_proxy": ""}

    @property
    def hosts(self) -> set[str]:
        """The hosts that were asked for so far."""
        return set(self.asked)

    def find_context(self, host: str) -> ssl.SSLContext:
        """Return the TLS settings with a certificate for a host."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._authority.issue(host)
            return self._contexts[host]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Authority:
    """Signs certificates for any host."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.file = folder, folder / "authority.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Trap of a test")])
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        own = (
            _begin(name, name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
            )
        )
        self._certificate = own.sign(self._key, hashes.SHA256())
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, host: str) -> ssl.SSLContext:
        """Return TLS settings of a server with a certificate for a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A host")])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        signed = (
            _begin(name, self._certificate.subject, key)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        file = self._folder / f"{host}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _begin(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    return x509.CertificateBuilder(
        issuer, name, key.public_key(), x509.random_serial_number(), now - day, now + day
    )


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, owner: TrapProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: clients that disconnect are expected."""


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        owner = self.server.owner
        line = self.rfile.readline().decode("latin-1").split()
        if len(line) < 2:
            return
        method, target = line[:2]
        if method != "CONNECT":  # a request without encryption
            owner.asked.append(urlsplit(target).hostname or target)
            self.wfile.write(b"HTTP/1.1 502 Trapped\r\nContent-Length: 0\r\n\r\n")
            return
        while self.rfile.readline().strip():
            pass
        host = target.rpartition(":")[0]
        owner.asked.append(host)
        self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        context = owner.find_context(host)
        with (
            context.wrap_socket(self.connection, server_side=True) as client,
            socket.create_connection(owner.answering) as server,
        ):
            _join(client, server)


def _join(client: ssl.SSLSocket, server: socket.socket) -> None:
    """Pass on what either side sends, until one of them closes."""
    while True:
        waits = not client.pending()
        ready = select.select([client, server], [], [], _IDLE_S)[0] if waits else [client]
        if not ready:
            return
        for source in ready:
            data = source.recv(_READ_BYTES)
            if not data:
                return
            (server if source is client else client).sendall(data)
