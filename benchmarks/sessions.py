"""Readers without a browser: sessions that speak Streamlit's own protocol, so that many fit on one machine.

A session opens a page, waits until its script has run, sends what a component or a control would send, and notes how
long the answer took. What a browser does with the answer is not measured here (`interaction` does that).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

PATIENCE = 60.0  # Seconds until a run of the script counts as lost.


@dataclass
class Session:
    """One reader's connection.

    Attributes:
        address: of the app; page: "learn" …, "" for the first one; query: as in a link.
        components: by key, the id and the last data of each of our components.
        widgets: what the session's controls hold, by id.
    """

    address: str
    page: str = ""
    query: str = ""
    components: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    widgets: dict[str, WidgetState] = field(default_factory=dict)

    def open(self) -> float:
        """Connect and run the page once; returns the seconds that it took."""
        place = urlsplit(self.address)
        self.socket = connect(
            f"ws://{place.netloc}/_stcore/stream", subprotocols=["streamlit", "none"], max_size=None, compression=None
        )
        return self.run()

    def run(self, *triggered: WidgetState) -> float:
        """Run the page's script with these triggers set; returns the seconds until it had finished."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        message.rerun_script.context_info.url = f"{self.address}/{self.page}?{self.query}"
        message.rerun_script.context_info.locale = "en-US"
        message.rerun_script.widget_states.widgets.extend([*self.widgets.values(), *triggered])
        started = time.perf_counter()
        self.socket.send(message.SerializeToString())
        while not self._hear():
            pass
        return time.perf_counter() - started

    def trigger(self, component: str, event: str, value: object) -> float:
        """Send what a component sends when its reader does something; returns the seconds until it is answered."""
        name, _ = self.components[component]
        return self.run(
            WidgetState(id=trigger_id(name), json_trigger_value=json.dumps([{"event": event, "value": value}]))
        )

    def close(self) -> None:
        self.socket.close()

    def _hear(self) -> bool:
        """Take one message in; whether it says that the script has finished."""
        message = ForwardMsg()
        message.ParseFromString(self.socket.recv(timeout=PATIENCE))
        kind = message.WhichOneof("type")
        if kind == "delta" and message.delta.new_element.WhichOneof("type") == "bidi_component":
            component = message.delta.new_element.bidi_component
            self.components[component.component_name] = (component.id, component.bytes)
        return kind == "script_finished"


def trigger_id(component: str) -> str:
    return f"$$STREAMLIT_INTERNAL_KEY_{component}__events"


def fetch(address: str) -> bytes:
    """What a GET answers."""
    with urlopen(address, timeout=PATIENCE) as answer:
        return answer.read()
