"""All worlds of the zoo by name."""

from benchmarks.worlds.zoo_worlds.fault_free import FAULT_FREE
from benchmarks.worlds.zoo_worlds.further import FURTHER
from benchmarks.worlds.zoo_worlds.reported import REPORTED
from benchmarks.worlds.zoo_worlds.study import World

ZOO: dict[str, World] = {world.name: world for world in (*REPORTED, *FURTHER, *FAULT_FREE)}
