"""The base of every fact that travels between steps: frozen, strict, JSON there and back."""

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from nightly_sync import paths


class Model(BaseModel):
    """Immutable and closed: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _path(value: object, info: ValidationInfo) -> str:
    if not isinstance(value, str):
        raise ValueError("a path is text")
    return paths.unquote(value) if info.mode == "json" else value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not text")
    return value


def _location(value: object) -> str:
    """A path or URL. One of undecodable bytes is quoted in JSON, and read back from there."""
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "needs text")
    if not value:
        raise PydanticCustomError("string_too_short", "is empty")
    if "\0" in value:
        raise PydanticCustomError("nul", "holds a NUL character, which no path can")
    read = paths.unquote(value)
    return read if _undecodable(read) else value


def _location_text(value: str) -> str:
    return paths.quote(value) if _undecodable(value) else value


def _undecodable(value: str) -> bool:
    return paths.printable(value) != value


# Plain validators, because pydantic's own string check refuses undecodable bytes.
PathName = Annotated[
    str,
    PlainValidator(_path),
    PlainSerializer(paths.quote, return_type=str, when_used="json"),
]
"""A path inside the repository: in memory any bytes (surrogateescape), in JSON quoted if odd."""

Text = Annotated[
    str,
    PlainValidator(_text),
    PlainSerializer(paths.printable, return_type=str, when_used="json"),
]
"""Text that came out of git and may hold undecodable bytes; JSON shows them escaped."""

Location = Annotated[
    str,
    PlainValidator(_location),
    PlainSerializer(_location_text, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
"""A path or URL outside the repository, not empty; any bytes, as people and shells give it."""
