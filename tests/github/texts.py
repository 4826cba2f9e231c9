"""Limits of what people and programs may write."""

from tests.github.errors import ApiError, invalid

LONGEST = 65_536  # characters of a body, of pull requests and comments alike
LONGEST_LABEL = 50


def check_length(resource: str, field: str, text: object) -> None:
    """Refuse a pull request's body that is too long."""
    if isinstance(text, str) and len(text) > LONGEST:
        raise invalid(
            resource, field, "custom", f"{field} is too long (maximum is {LONGEST} characters)"
        )


def check_comment(text: str) -> None:
    """Refuse a comment that is too long, or empty; GitHub names another field and code here."""
    if len(text) > LONGEST:
        message = f"Body is too long (maximum is {LONGEST} characters)"
        raise invalid("IssueComment", "data", "unprocessable", message)
    if not text.strip():
        raise ApiError(422, "Validation Failed", [{"code": "missing_field", "field": "body"}])
