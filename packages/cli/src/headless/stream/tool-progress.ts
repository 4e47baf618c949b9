import type { Clock, Display } from "@assent/core";
import type { WireMessage } from "./message.ts";

const PER_SECOND = 10;
const GAP_MS = 1_000 / PER_SECOND;
const LONGEST_BYTES = 8 * 1024;

/** Reports the newest progress of running calls, a few times a second. */
export type ToolProgress = {
  readonly update: (callId: string, display: Display) => void;
  /** Reports the last progress of a call that has ended. */
  readonly end: (callId: string) => void;
};

type RunningCall = { newest: string | undefined; shownAt: number; cancel: (() => void) | undefined };

export function toolProgress(clock: Clock, tell: (line: WireMessage) => void): ToolProgress {
  const running = new Map<string, RunningCall>();
  const flush = (callId: string, call: RunningCall): void => {
    call.cancel?.();
    call.cancel = undefined;
    if (call.newest === undefined) return;
    tell({ type: "stream_event", event: { type: "tool_progress", tool_use_id: callId, text: newest(call.newest) } });
    call.newest = undefined;
    call.shownAt = clock.now();
  };
  return {
    update: (callId, display) => {
      const text = displayText(display);
      if (text === undefined) return;
      const call = running.get(callId) ?? { newest: undefined, shownAt: Number.NEGATIVE_INFINITY, cancel: undefined };
      running.set(callId, call);
      call.newest = text;
      const wait = call.shownAt + GAP_MS - clock.now();
      if (wait <= 0) flush(callId, call);
      else call.cancel ??= clock.timer(wait, () => flush(callId, call));
    },
    end: (callId) => {
      const call = running.get(callId);
      if (call) flush(callId, call);
      running.delete(callId);
    },
  };
}

function displayText(display: Display): string | undefined {
  if (typeof display === "string") return display;
  if (display.type === "ansi_output") return display.ansiOutput.map((runs) => runs.map(({ text }) => text).join("")).join("\n");
  if (display.type !== "tool_progress") return undefined;
  const { progress, total, message } = display;
  return `${progress}${total === undefined ? "" : `/${total}`}${message === undefined ? "" : ` ${message}`}`;
}

function newest(text: string): string {
  const bytes = Buffer.from(text.slice(-LONGEST_BYTES));
  return bytes.length <= LONGEST_BYTES
    ? bytes.toString()
    : bytes
        .subarray(-LONGEST_BYTES)
        .toString()
        .replace(/^\ufffd+/, "");
}
