"""A request that is written anew when the server refuses its shape, and what is learned from it."""

from secrets import token_hex

from chains.errors import BadRequest, ModelError, ModelUnavailable
from chains.llm.port import Endpoint, ShapeMemory
from chains.llm.request_shape import USUAL_SHAPE, RequestShape, propose_shape
from chains.llm.wire_request import WireRequest, build_wire_request
from context.assemble.request import Request

__all__ = ["ShapedRequest"]


class ShapedRequest:
    """A request to a model, in the shape that its server takes.

    Attributes:
        wire: the arguments of the call in the present shape.
    """

    wire: WireRequest

    def __init__(
        self,
        request: Request,
        endpoint: Endpoint,
        key: str | None,
        shapes: ShapeMemory,
    ) -> None:
        """Write the request.

        Args:
            endpoint: the address of the model.
            key: the API key, or None.
            shapes: remembers the shape of the model's requests.
        """
        self._request, self._endpoint, self._key = request, endpoint, key
        self._placeholder = token_hex(16)
        self._shapes = shapes
        self._known = self._base = self._shape = shapes.find_shape()
        self._refusals: list[ModelError] = []
        self._tried = {self._shape}
        self.wire = self._write(self._shape)

    def reshape(self, error: ModelError) -> bool:
        """Write the request in another shape if the server refused this one.

        Each shape is tried once. If the new shape is refused in the same words, it made no
        difference, and is given up for another one.

        Returns:
            Whether the request was changed, so that it can be sent again.
        """
        if not _is_refusal(error):
            return False
        is_repeated = bool(self._refusals) and error.refusal == self._refusals[-1].refusal
        base = self._base if is_repeated else self._shape
        for shape in propose_shape(base, error.refusal):
            if shape in self._tried:
                continue
            self._tried.add(shape)
            wire = self._write(shape)
            if not wire.sends_same(self.wire):
                self._refusals.append(error)
                self._base, self._shape, self.wire = base, shape, wire
                return True
        return False

    def choose_error(self, error: ModelError) -> ModelError:
        """Return the error to report: the first refusal that led to another shape, if any.

        It was about the usual request. A later one may only be about an attempt to mend it. Trouble
        of the server itself is reported as such.
        """
        is_refusal = isinstance(error, BadRequest) or (
            _is_refusal(error) and any(propose_shape(USUAL_SHAPE, error.refusal))
        )
        return self._refusals[0] if self._refusals and is_refusal else error

    def confirm(self) -> str:
        """Remember the present shape, because the server has accepted it.

        Returns:
            What changed, in words for the user, or an empty string if nothing did.
        """
        if self._shape == self._known:
            return ""
        changed, self._known = self._shape.describe_change(self._known), self._shape
        self._shapes.learn_shape(self._shape)
        return changed

    def _write(self, shape: RequestShape) -> WireRequest:
        return build_wire_request(
            self._request, self._endpoint, self._key, shape, self._placeholder
        )


def _is_refusal(error: ModelError) -> bool:
    """Return whether an error may be about the shape of the request."""
    return isinstance(error, BadRequest | ModelUnavailable) and bool(error.refusal)
