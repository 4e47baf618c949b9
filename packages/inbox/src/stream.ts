import type { IncomingMessage, ServerResponse } from "node:http";
import type { InboxDesk } from "./desk.ts";

const BEAT_MS = 15_000;

/**
 * Sends a server-sent event to a browser after each change of the record. An event has only the position; the page then reads what it shows, so
 * nothing is lost between two connections, and a browser that reads slowly gets only the newest one. After a reconnect with `Last-Event-ID`, the
 * first event is sent at once if the page missed a change.
 */
export function streamChanges(desk: InboxDesk, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
  response.write("retry: 1000\n\n");
  let seen = Number(request.headers["last-event-id"] ?? -1);
  if (!Number.isSafeInteger(seen)) seen = -1;
  let newest = seen;
  const tell = (): void => {
    if (newest === seen || response.writableNeedDrain) return;
    seen = newest;
    response.write(`id: ${seen}\nevent: changed\ndata: ${seen}\n\n`);
  };
  response.on("drain", tell);
  const following = desk.follow(
    (position) => {
      newest = position;
      tell();
    },
    () => response.end(), // the browser connects again, and meanwhile says that it is not connected
  );
  const beat = setInterval(() => response.writableNeedDrain || response.write(": still here\n\n"), BEAT_MS);
  response.on("close", () => {
    clearInterval(beat);
    following.close();
  });
}
