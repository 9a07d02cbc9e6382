/* Reads a recording beside the page, which stays quick meanwhile; its arrays move, without a copy. */
import { readRecording } from "./recording.js";
import { lanesOf } from "./lanes.js";
import { flowsOf } from "./flows.js";

/* The buffers of all typed arrays in an object. */
function buffersOf(object, found) {
    for (const value of Object.values(object)) {
        if (ArrayBuffer.isView(value)) found.add(value.buffer);
        else if (value && typeof value === "object") buffersOf(value, found);
    }
    return found;
}

function readAll(octets, progress) {
    const rec = readRecording(octets, progress);
    return { rec, lanes: lanesOf(rec), flows: flowsOf(rec) };
}

self.onmessage = (request) => {
    const octets = new Uint8Array(request.data);
    try {
        const opened = readAll(octets, (share) => self.postMessage({ progress: share }));
        self.postMessage({ opened }, [...buffersOf(opened, new Set())]);
    } catch (error) {
        self.postMessage({ failed: String(error) });
    }
};
