"""The end of a turn: hooks look at what it came to, and may shape what later requests see of it."""

from context.assemble.apply_hooks import envelope_of, transform_entries
from context.assemble.inputs import Ports, PrepareInputs, room_of
from context.history.replay import read_path
from context.log.entries import TransformEntry

__all__ = ["end_turn"]


def end_turn(inputs: PrepareInputs, ports: Ports) -> tuple[TransformEntry, ...]:
    """Let the `turn_end` hooks at what a turn came to, and append their patches in one write.

    Args:
        inputs: as for the requests of the turn, the path with its last answer at the end.
        ports: as for the requests of the turn.

    Raises:
        ContextHookError: when a hook fails; then nothing is appended.
    """
    if ports.hooks is None or not ports.hooks.has("context"):
        return ()
    reading = read_path(inputs.path, ports.counter)
    envelope = envelope_of(inputs, ports, room_of(inputs, ports.counter), reading)
    run = ports.hooks.run_context("turn_end", envelope, ports.new_id)
    transforms = transform_entries(run.transforms, inputs.path[-1].id, ports.now())
    if transforms:
        ports.append(transforms)
    return transforms
