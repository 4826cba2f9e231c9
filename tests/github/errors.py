"""What the API answers when it refuses."""

from collections.abc import Mapping
from typing import Any

DOCS = "https://docs.github.com/rest"


class ApiError(Exception):
    """A refusal: status, GitHub's words, and for 422 the list of what is wrong."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[dict[str, Any]] | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status = status
        self.errors = errors
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        """As JSON; GitHub repeats the status as text."""
        errors = {} if self.errors is None else {"errors": self.errors}
        text = {"documentation_url": DOCS, "status": str(self.status)}
        return {"message": str(self), **errors, **text}


def not_found() -> ApiError:
    """There is no such thing, or this token may not know that there is."""
    return ApiError(404, "Not Found")


def invalid(resource: str, field: str, code: str, message: str = "") -> ApiError:
    """Validation failed; `code` custom and unprocessable carry a message."""
    error = {"resource": resource, "code": code, "field": field}
    return ApiError(422, "Validation Failed", [error | ({"message": message} if message else {})])
