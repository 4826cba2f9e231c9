"""From the address git uses to those of the API. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from nightly_sync.errors import ConfigError

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[\w.-]+):(?!/)(?P<path>\S+)")  # git@host:owner/name


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


def parse(repository: str, api: str = "") -> Address:
    """The addresses of a repository, from its clone URL (HTTPS or SSH).

    `api` overrides the API's base URL, for a host that serves it elsewhere. Raises ConfigError
    for what is not `host/owner/name`, and for a URL with a token or password in it: git and logs
    would show it.
    """
    scheme, host, path = _split(repository)
    owner, _, name = path.strip("/").removesuffix(".git").partition("/")
    if not host or not owner or not name or "/" in name:
        raise ConfigError(
            "the repository is no address on GitHub: write it as https://HOST/OWNER/NAME"
        )
    web = f"{scheme}://{host}"
    base = (api or _api(scheme, host)).rstrip("/")
    return Address(web, owner, name, base, _graphql(base))


def _split(repository: str) -> tuple[str, str, str]:
    """Scheme of the web side, host with port, path."""
    scp = _SCP.fullmatch(repository)
    if scp:
        return "https", scp["host"], scp["path"]
    parts = urlsplit(repository)
    if parts.scheme == "ssh":
        return "https", parts.hostname or "", parts.path
    if parts.scheme not in ("https", "http"):
        return "", "", ""
    if "@" in parts.netloc:
        raise ConfigError(
            "the repository's address holds a user name or a token: take it out, and put the "
            "token into the environment"
        )
    return parts.scheme, parts.netloc, parts.path


def _api(scheme: str, host: str) -> str:
    """github.com and *.ghe.com have a host for the API, a server of one's own has a path."""
    name = host.lower()
    if name in ("github.com", "www.github.com"):
        return "https://api.github.com"
    if name.endswith(".ghe.com"):
        return f"https://api.{name}"
    return f"{scheme}://{host}/api/v3"


def _graphql(api: str) -> str:
    return f"{api.removesuffix('/v3')}/graphql" if api.endswith("/api/v3") else f"{api}/graphql"
