"""Bob's configuration file as `acp-agent init` writes it.

Owns its text and the careful writing: valid by config.read before it has its name, whole or not at all, never over a
file that nobody agreed to lose. Deliberately absent: any key or password; the file names a variable.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from acp_agent import config
from acp_agent.setup.products import Identity


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that was chosen, and the server it is on."""

    base_url: str
    name: str
    identity: Identity
    key_variable: str | None = None


class NotWrittenError(Exception):
    """The file could not be written; the text is a sentence. Nothing has changed."""


class AlreadyThereError(NotWrittenError):
    """A file has the name, and was not to be replaced."""


def text_of(choice: Choice) -> str:
    """The file's text."""
    lines = [
        "# Bob's configuration. All keys are in docs/configuration.md; `acp-agent doctor` checks it.",
        "",
        "[model]",
        f'provider = "openai"  # whatever speaks the OpenAI chat completions protocol; here {choice.identity}',
        f"baseUrl = {quoted(choice.base_url)}",
        f"name = {quoted(choice.name)}",
    ]
    if choice.key_variable:
        lines.append(
            f"apiKeyEnv = {quoted(choice.key_variable)}  # the variable that holds the key, not the key"
        )
    else:
        lines.append(
            '# apiKeyEnv = "OPENAI_API_KEY"  # if the server wants a key: the variable that holds it'
        )
    lines += [
        "# maxTokens = 4096  # the longest answer; left out, the server decides",
        "# idleTimeout = 300  # seconds of silence; a local model may have to be loaded, or read a long prompt, first",
        "",
        "[tools.bash]",
        "# timeout = 120  # seconds a command may run when the model names no time",
        "",
        "[sessions]",
        "# enabled = true  # keep conversations, so that an editor can come back to them",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A TOML basic string. JSON escapes the same, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write(path: Path, choice: Choice, *, replace: bool) -> None:
    """Write the file: through a temporary one beside it, checked, then renamed.

    A link is followed, an existing file's mode is kept, missing directories are made. replace: whether an
    existing file may go. Raises AlreadyThereError, else NotWrittenError with the reason."""
    target = Path(os.path.realpath(path))
    try:
        with contextlib.suppress(FileExistsError):
            target.parent.mkdir(parents=True)
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise NotWrittenError(f"{path} cannot be written: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text_of(choice))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        _check(temporary, choice)
        _put_in_place(temporary, target, path, replace=replace)
    except OSError as error:
        raise NotWrittenError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _check(temporary: Path, choice: Choice) -> None:
    try:
        model = config.read(temporary).model
    except config.ConfigError as error:
        raise NotWrittenError(f"this choice cannot be configured: {error}") from error
    if (model.base_url, model.name, model.api_key_env) != (choice.base_url, choice.name, choice.key_variable):
        raise NotWrittenError("this choice would be read back as another one")


def _put_in_place(temporary: Path, target: Path, path: Path, *, replace: bool) -> None:
    if replace:
        temporary.replace(target)
        return
    try:
        # A link, unlike a rename, fails if somebody made the file meanwhile.
        os.link(temporary, target)
    except FileExistsError:
        raise AlreadyThereError(f"{path} exists already") from None
    except OSError:
        # A file system without links.
        if target.exists():
            raise AlreadyThereError(f"{path} exists already") from None
        temporary.replace(target)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
