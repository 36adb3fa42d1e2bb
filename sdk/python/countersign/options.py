"""The options of a client, checked."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")
_TOKEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Settings:
    """What the options come to. No print of it shows the token."""

    secure: bool
    host: str
    port: int
    authority: str
    prefix: str
    token: str = field(repr=False)
    timeout: float
    retries: int
    max_answer_bytes: int
    ssl_context: ssl.SSLContext | None = field(repr=False)

    @property
    def origin(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.authority}"


def settle(
    base_url: str,
    token: str,
    *,
    prefix: str,
    timeout: float,
    retries: int,
    max_answer_bytes: int,
    allow_insecure: bool,
    ssl_context: ssl.SSLContext | None,
) -> Settings:
    """Checks the options; what is wrong with them is a ValueError, with no secret in it."""
    if token == "":
        raise ValueError("token: it is empty; is the environment variable set?")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise ValueError("token: it must be visible ASCII characters")
    if not _PREFIX.fullmatch(prefix):
        raise ValueError("prefix: it must be a path such as /api/runtime/v1")
    if not timeout > 0:
        raise ValueError("timeout: it must be more than 0 seconds")
    if retries < 0:
        raise ValueError("retries: it must be 0 or more")
    if max_answer_bytes < 1:
        raise ValueError("max_answer_bytes: it must be 1 or more")
    secure, host, port, authority = _origin(base_url, allow_insecure)
    if secure and ssl_context is None:
        ssl_context = ssl.create_default_context()
    return Settings(secure, host, port, authority, prefix.rstrip("/"), token, timeout, retries, max_answer_bytes, ssl_context if secure else None)


def _origin(base_url: str, allow_insecure: bool) -> tuple[bool, str, int, str]:
    wrong = ValueError("base_url: it must be an http or https origin, such as https://countersign.example")
    if not isinstance(base_url, str) or not base_url.isascii() or re.search(r"[\x00-\x20\x7f]", base_url):
        raise wrong
    try:
        url = urlsplit(base_url)
        host, port = url.hostname, url.port
    except ValueError:
        raise wrong from None
    if url.scheme not in ("http", "https") or not host:
        raise wrong
    if url.path not in ("", "/") or "?" in base_url or "#" in base_url or "@" in url.netloc:
        raise ValueError("base_url: it must be an origin only; a path goes into `prefix`")
    secure = url.scheme == "https"
    if not secure and not _LOOPBACK.fullmatch(host) and not allow_insecure:
        raise ValueError("base_url: http would send the token in clear text; use https, or say allow_insecure")
    usual = 443 if secure else 80
    shown = f"[{host}]" if ":" in host else host
    return secure, host, port or usual, shown if port in (None, usual) else f"{shown}:{port}"
