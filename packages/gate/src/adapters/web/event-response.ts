import type { WebEvent } from "./event-sequence.ts";

const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no", // a buffering proxy would delay approvals
};

/** Encodes events as Server-Sent Events. A recorded event has its position as id, which a reconnecting browser sends as `Last-Event-ID`. */
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

/** Returns the events as a fetch `Response`. */
export function eventResponse(events: ReadableStream<WebEvent>): Response {
  return new Response(encodeEvents(events), { headers: HEADERS });
}

/** Reads the `Last-Event-ID` header for `after` of `follow`. */
export function readLastEventId(header: string | null | undefined): { readonly after?: number } {
  return header && /^\d{1,15}$/.test(header) ? { after: Number(header) } : {};
}
