import type { WebEvent } from "./event-sequence.ts";

const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no", // a proxy that collects would hold an approval back
};

/** Server-Sent Events, as bytes. What is on record carries its place as the id, so a browser that comes back names it as `Last-Event-ID`. */
export function encodeEvents(events: ReadableStream<WebEvent>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return events.pipeThrough(
    new TransformStream<WebEvent, Uint8Array>({
      transform: (event, controller) => {
        const id = event.pos === null ? "" : `id: ${event.pos}\n`;
        controller.enqueue(encoder.encode(`${id}data: ${JSON.stringify(event)}\n\n`));
      },
    }),
  );
}

/** The same as the response of a fetch-style server. */
export function eventResponse(events: ReadableStream<WebEvent>): Response {
  return new Response(encodeEvents(events), { headers: HEADERS });
}

/** The place a browser names when it comes back (`Last-Event-ID`), for `after` of `follow`. */
export function readLastEventId(header: string | null | undefined): { readonly after?: number } {
  return header && /^\d{1,15}$/.test(header) ? { after: Number(header) } : {};
}
