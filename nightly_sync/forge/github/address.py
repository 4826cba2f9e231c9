"""From the address git uses to those of the API. Pure."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from nightly_sync.errors import ConfigError

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[\w.-]+):(?!/)(?P<path>\S+)")  # git@host:owner/name
# ssh.github.com: docs.github.com, "Using SSH over the HTTPS port".
_SAME_HOST = {"www.github.com": "github.com", "ssh.github.com": "github.com"}
_PORTS = {"https": 443, "http": 80}  # that need not be written


@dataclass(frozen=True)
class Address:
    """A repository and where its API answers."""

    web: str  # scheme and host, no slash at the end
    owner: str
    name: str
    api: str
    graphql: str

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"

    @property
    def url(self) -> str:
        """The one spelling of the repository, for git too: two of them are never one repository."""
        return f"{self.web}/{self.full_name}"


def parse(repository: str, api: str = "") -> Address:
    """The addresses of a repository, from its clone URL (HTTPS or SSH).

    GitHub does not tell upper from lower case, so all is lower case here. `api` overrides the
    API's base URL, for a host that serves it elsewhere. Raises ConfigError for what is not
    `host/owner/name`, for a URL with a token or password in it (git and logs would show it), and
    for plain HTTP to another machine.
    """
    scheme, host, path = _split(repository)
    owner, _, name = path.strip("/").lower().removesuffix(".git").partition("/")
    if not host or not owner or not name or "/" in name:
        raise ConfigError(
            "the repository is no address on GitHub: write it as https://HOST/OWNER/NAME"
        )
    web = f"{scheme}://{host}"
    base = _given(api) if api else _api(scheme, host)
    return Address(web, owner, name, base, _graphql(base))


def _split(repository: str) -> tuple[str, str, str]:
    """Scheme of the web side, host with port, path; empty for what is no such address."""
    scp = _SCP.fullmatch(repository)
    if scp:
        return "https", _host(scp["host"]), scp["path"]
    parts = _parts(repository, "the repository's address")
    if parts.scheme == "ssh":
        return "https", _host(parts.hostname or ""), parts.path
    if parts.scheme not in _PORTS:
        return "", "", ""
    return parts.scheme, _encrypted(parts, "the repository's address"), parts.path


def _given(api: str) -> str:
    """The configured base URL of the API, checked."""
    what = "github.api"
    parts = _parts(api, what)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ConfigError(f"{what} is no address: write it as https://HOST/...")
    return f"{parts.scheme}://{_encrypted(parts, what)}{parts.path.rstrip('/')}"


def _parts(text: str, what: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises where it is no number
    except ValueError:  # whose words quote a part of the address
        raise ConfigError(f"{what} is no address: write it as https://HOST/...") from None
    return parts


def _encrypted(parts: SplitResult, what: str) -> str:
    """Host and port. Raises ConfigError where a secret is in it, or would cross a net in clear."""
    if "@" in parts.netloc:
        raise ConfigError(
            f"{what} holds a user name or a token: take it out, and put the token into the "
            "environment"
        )
    host = parts.hostname or ""
    if parts.scheme == "http" and not _is_here(host):
        raise ConfigError(
            f"{what} begins with http://, and anybody on the way to {host} could read the token: "
            "write https://"
        )
    shown = f"[{host}]" if ":" in host else _host(host)
    return shown if parts.port in (None, _PORTS[parts.scheme]) else f"{shown}:{parts.port}"


def _host(name: str) -> str:
    """One name for a host that has several."""
    lower = name.lower().rstrip(".")
    return _SAME_HOST.get(lower, lower)


def _is_here(host: str) -> bool:
    """Does what is sent there stay on this machine?"""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _api(scheme: str, host: str) -> str:
    """github.com and *.ghe.com have a host for the API, a server of one's own has a path."""
    if host == "github.com":
        return "https://api.github.com"
    if host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"{scheme}://{host}/api/v3"


def _graphql(api: str) -> str:
    return f"{api.removesuffix('/v3')}/graphql" if api.endswith("/api/v3") else f"{api}/graphql"
