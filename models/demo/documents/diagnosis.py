"""Machine readings and their diagnosis as JSON."""

import json
import random
from typing import NamedTuple

from documents.chat import turn

MACHINES = ["pump", "fan", "press", "mixer", "lathe", "compressor", "conveyor", "turbine"]


class Signal(NamedTuple):
    unit: str
    low: int
    high: int
    cause: str
    action: str


SIGNALS = {
    "vibration": Signal("mm/s", 1, 9, "bearing wear or imbalance", "inspect the bearing"),
    "temperature": Signal("C", 20, 95, "overheating", "check the cooling"),
    "pressure": Signal("bar", 1, 9, "blocked line", "check valves and filter"),
    "current": Signal("A", 2, 40, "overload", "reduce the load"),
}


class Diagnosis(NamedTuple):
    user: str
    answer: dict[str, str]
    text: str


def state_of(mean: int, peak: int, slope: int, limit: int) -> str:
    """The rule that the model is to learn: how near the readings are to their limit."""
    if peak >= limit:
        return "alarm"
    return "warning" if mean + 10 * slope >= limit else "normal"


def diagnosis(rng: random.Random) -> Diagnosis:
    """Readings drawn so that each state is wanted equally often."""
    machine = f"{rng.choice(MACHINES)}-{rng.randint(1, 9)}"
    name, signal = rng.choice(sorted(SIGNALS.items()))
    limit = rng.randint(signal.low + (signal.high - signal.low) // 3, signal.high)
    wanted = rng.choice(["normal", "warning", "alarm"])
    mean = rng.randint(signal.low, max(signal.low, int(limit * 0.7)))
    slope, peak = 0, rng.randint(mean, max(mean, limit - 1))
    if wanted == "alarm":
        peak = limit + rng.randint(0, max(1, signal.high // 4))
        slope = rng.randint(0, 2)
    elif wanted == "warning":
        slope = max(1, -(-(limit - mean) // 10) + rng.randint(0, 1))
    state = state_of(mean, peak, slope, limit)
    user = (f"diagnose {machine} {name} unit={signal.unit} mean={mean} max={peak} slope={slope} "
            f"limit={limit}")
    calm = state == "normal"
    answer = {
        "state": state,
        "cause": "none" if calm else signal.cause,
        "action": "none" if calm else signal.action,
    }
    return Diagnosis(user, answer, turn("user", user) + turn("assistant", json.dumps(answer)))
