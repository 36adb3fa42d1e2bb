"""Client and receiver kit for Countersign, which executes what software agents propose,
under control. The receiver kit is countersign.receiver; countersign.receipt verifies
receipts offline; countersign.types has the records of the API."""

from __future__ import annotations

from .aioclient import AsyncCountersign, AsyncHeartbeatLoop
from .client import Countersign, HeartbeatLoop
from .errors import ERROR_CODES, CountersignConnectionError, CountersignError, is_temporary
from .listing import AsyncListing, Listing, Page
from .toolanswer import Outcome, ToolAnswer
from .told import ArgumentsError, ToolError
from .tools import AsyncTool, Tool, Tools, ToolSpec

__version__ = "0.3.0"

__all__ = [
    "ERROR_CODES",
    "ArgumentsError",
    "AsyncCountersign",
    "AsyncHeartbeatLoop",
    "AsyncListing",
    "AsyncTool",
    "Countersign",
    "CountersignConnectionError",
    "CountersignError",
    "HeartbeatLoop",
    "Listing",
    "Outcome",
    "Page",
    "Tool",
    "ToolAnswer",
    "ToolError",
    "ToolSpec",
    "Tools",
    "is_temporary",
]
