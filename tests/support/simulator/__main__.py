"""Run the simulator for long: `python -m tests.support.simulator --seed 1 --events 100000`."""

import argparse
import logging
import sys
import time
from collections.abc import Callable

from tests.support.simulator.bugs import BUGS
from tests.support.simulator.run import (
    Outcome,
    find_bug,
    find_mutation,
    list_mutations,
    run_steps,
    shrink,
    simulate,
)


def main() -> int:
    """Simulate, print what was reached, and shrink a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.simulator")
    parser.add_argument("--seed", type=int, default=1, help="what decides all events")
    parser.add_argument("--events", type=int, default=10_000, help="how many events")
    parser.add_argument(
        "--mutate",
        action="store_true",
        help="leave out each sync and each lock in turn, and make bugs: each must be found",
    )
    options = parser.parse_args()
    logging.basicConfig(
        handlers=[logging.NullHandler()]
    )  # what is logged is looked at: see `World`
    if options.mutate:
        return _mutate(options.events)
    return _simulate(options.seed, options.events)


def _simulate(seed: int, events: int) -> int:
    started_s = time.monotonic()
    outcome = simulate(seed, events)
    took_s = time.monotonic() - started_s
    files = f"{outcome.reached['files of storms']:,} files of storms"
    print(f"{outcome.count:,} events and {files} from seed {seed} in {took_s:,.0f} s")
    for name in ("fired", "answers", "done", "reached", "syncs"):
        counts = sorted(getattr(outcome, name).items())
        print(f"{name}: " + ", ".join(f"{one} {count:,}" for one, count in counts))
    if outcome.missed:
        print("never reached: " + ", ".join(outcome.missed))
    if outcome.broken:
        _print_failure(outcome)
    return bool(outcome.broken or outcome.missed)


def _print_failure(outcome: Outcome) -> None:
    print("\n".join(outcome.broken))
    steps = shrink(outcome.steps)
    print(f"failed after {len(outcome.steps)} events of its world, shrunk to {len(steps)}:")
    for step in steps:
        print(f"  Step({step.seed}, {step.mix_seed})  {step.fault}")
    for one in run_steps(steps).broken:
        print(f"  {one}")


def _mutate(events: int) -> int:
    faults: list[tuple[str, Callable[[str, int], Outcome]]]
    faults = [(one, find_mutation) for one in list_mutations()]
    faults += [(one, find_bug) for one in BUGS]
    missed = 0
    for name, find in faults:
        outcome = find(name, events)
        found = f"found after {outcome.count:,}: {''.join(outcome.broken)[:90]}"
        print(f"{name}: {found if outcome.broken else 'NOT FOUND'}", flush=True)
        missed += not outcome.broken
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
