"""The wheel's tag."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig


class Tag(BuildHookInterface[WheelBuilderConfig]):
    """Programs for x86-64 and glibc 2.34, for any Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-manylinux_2_34_x86_64"
