"""What the server remembers of its client: the chat, the mode and the model that it chose last.

Nothing of it is stored: a new server begins without a chat, and with the model of the settings.
"""

from app.assistant import Assistant
from app.errors import InvalidRequest
from app.rpc.wire import Json
from chains.events import Mode
from chains.model import warm_up
from chains.models import EXTRACTIVE
from context.fixes import Command, Fix

__all__ = ["Client"]


class Client:
    """The one client of a server, and what holds for its requests that do not say otherwise.

    Attributes:
        session: the current chat, or None.
        mode: the mode of its next questions.
        model: the model of its next questions, or None for the one in the settings.
    """

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.session: str | None = None
        self.mode: Mode = "vault"
        self.model: str | None = None

    @property
    def vault(self) -> str | None:
        """The folder of the open vault, or None."""
        folder = self._assistant.vault
        return None if folder is None else str(folder)

    @property
    def used_model(self) -> str:
        """The model of the next questions."""
        return self.model or self._assistant.settings.values.chat_model

    def begin_chat(self, project: str | None = None) -> str:
        """Create a chat with the open vault, which is not the current one yet."""
        return self._assistant.sessions.begin(self.vault, project)

    def enter(self, session: str, project: str | None) -> Json:
        """Make a chat the current one, and return the response.

        A chat with a project is continued in the mode `project`. For any other chat, the mode
        `project` is changed to `vault`. The model libraries are loaded before the first question
        arrives.

        Args:
            session: the chat.
            project: the project folder of the chat, or None.
        """
        self.session = session
        if project is not None:
            self.mode = "project"
        elif self.mode == "project":
            self.mode = "vault"
        if self.used_model != EXTRACTIVE:
            warm_up()
        return {"session": session}

    def choose_model(self, model: str) -> None:
        """Set the model of the next questions.

        Raises:
            InvalidRequest: the name is blank.
        """
        if not model.strip():
            raise InvalidRequest(
                "The model has no name.", hint=Fix("To list names: {}.", Command("models"))
            )
        self.model = model

    def leave(self, session: str) -> None:
        """Have no current chat any more if the current one is this one, which was deleted."""
        if self.session == session:
            self.session = None
