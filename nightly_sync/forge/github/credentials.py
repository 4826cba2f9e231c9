"""git over HTTPS with a token that only its environment holds.

Not in the remote's address, not in git's config files, not among the process arguments: the
helper given with `-c` is a line of shell that prints a variable, and answers for one host only.
"""

from nightly_sync.forge.github.address import Address
from nightly_sync.git import Access

VARIABLE = "NIGHTLY_SYNC_GIT_TOKEN"
USER = "x-access-token"  # GitHub takes any name with a token; this one serves App tokens too
_HELPER = (
    f'!f() {{ test "$1" = get || exit 0; echo username={USER}; echo "password=${VARIABLE}"; }}; f'
)


def git_credentials(address: Address, token: str) -> Access:
    """For commands that talk to the repository's host.

    The empty helper drops those that the machine has configured, so that none of them sees,
    offers or stores a password.
    """
    helper = f"credential.{address.web}.helper={_HELPER}"
    return Access(("-c", "credential.helper=", "-c", helper), {VARIABLE: token})
