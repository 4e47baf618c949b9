import type { IncomingMessage, ServerResponse } from "node:http";
import type { InboxDesk } from "./desk.ts";

const BEAT_MS = 15_000;

/**
 * Tells a browser, as server-sent events, that the record changed. An event carries only the position; the page then asks for what it shows, so
 * that nothing is lost between two connections. After a reconnect with `Last-Event-ID`, it hears at once if it missed something.
 */
export function streamChanges(desk: InboxDesk, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
  response.write("retry: 1000\n\n");
  let seen = Number(request.headers["last-event-id"] ?? -1);
  if (!Number.isSafeInteger(seen)) seen = -1;
  const following = desk.follow((position) => {
    if (position === seen) return;
    seen = position;
    response.write(`id: ${position}\nevent: changed\ndata: ${position}\n\n`);
  });
  const beat = setInterval(() => response.write(": still here\n\n"), BEAT_MS);
  response.on("close", () => {
    clearInterval(beat);
    following.close();
  });
}
