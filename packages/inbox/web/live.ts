import { get, WireError } from "./wire.ts";

/** `connected` is false while the stream is down. `changed` may be called without a change. */
export type LiveHandlers = { readonly connected: (is: boolean) => void; readonly changed: () => void; readonly loginNeeded: () => void };

type LiveMessage = { readonly type: "connected"; readonly is: boolean } | { readonly type: "changed" };

const RETRY_MS = 2_000;

/**
 * Follows the record. Browsers allow six connections to one server, so only one tab holds the stream and tells the others. When that tab closes, the
 * next one takes over.
 */
export function followLive(handlers: LiveHandlers): void {
  const channel = new BroadcastChannel("assent-inbox");
  const hear = (message: LiveMessage): void => (message.type === "connected" ? handlers.connected(message.is) : handlers.changed());
  channel.onmessage = ({ data }: MessageEvent<LiveMessage>) => hear(data);
  const tell = (message: LiveMessage): void => {
    hear(message);
    channel.postMessage(message);
  };
  void navigator.locks.request("assent-inbox-stream", async () => {
    for (;;) {
      await streamOnce(tell).catch((error: unknown) => {
        if (error instanceof WireError && error.status === 401) handlers.loginNeeded();
      });
      tell({ type: "connected", is: false });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  });
  addEventListener("focus", handlers.changed);
}

/** Resolves when the browser gives up. It reconnects by itself only while the server answers 200. */
async function streamOnce(tell: (message: LiveMessage) => void): Promise<void> {
  await get("/api/grants"); // the stream itself does not say that a login is needed
  return await new Promise((resolve) => {
    const stream = new EventSource("/api/stream");
    stream.onopen = () => {
      tell({ type: "connected", is: true });
      tell({ type: "changed" });
    };
    stream.addEventListener("changed", () => tell({ type: "changed" }));
    stream.onerror = () => {
      tell({ type: "connected", is: false });
      if (stream.readyState !== EventSource.CLOSED) return;
      stream.close();
      resolve();
    };
  });
}
