"""Reads a Perfetto trace with Perfetto's own messages: prints the slices of the category `launch` on the tracks of
queues as JSON, each with the names of the slices around it and its values. Fails when slices are not nested.

    perfetto_trace.py FILE
"""

import json
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace


def main():
    trace = Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    tracks, open_slices, launches, last = {}, {}, [], {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert packet.timestamp >= last.get(event.track_uuid, 0), "a track goes back in time"
        last[event.track_uuid] = packet.timestamp
        slices = open_slices.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            if "launch" in event.categories and tracks[event.track_uuid].startswith("queue"):
                values = {note.name: note.uint_value or note.string_value for note in event.debug_annotations}
                launches.append({"kernel": event.name, "inside": slices[:], "values": values})
            slices.append(event.name)
        elif event.type == event.TYPE_SLICE_END:
            slices.pop()
    assert not any(open_slices.values()), "a slice does not end"
    json.dump(launches, sys.stdout)


main()
