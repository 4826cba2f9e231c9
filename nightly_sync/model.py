"""The base of every fact that travels between steps: frozen, strict, JSON there and back."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, ValidationInfo

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
