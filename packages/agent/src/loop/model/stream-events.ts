/** The start of a block of an answer. */
export type StreamBlock =
  | { readonly type: "text" | "reasoning" }
  /** A call. Its arguments follow as deltas of type `input`. */
  | { readonly type: "call"; readonly id: string; readonly tool: string };

/** A piece of a block; `input` is a piece of a call's arguments. */
export type StreamDelta = { readonly type: "text" | "reasoning" | "input"; readonly delta: string };

/** A streaming event. Every block and message that starts also stops, even if the answer breaks off. Blocks are numbered from 0. */
export type StreamEvent =
  | { readonly type: "message_start" }
  | { readonly type: "block_start"; readonly index: number; readonly block: StreamBlock }
  | { readonly type: "delta"; readonly index: number; readonly delta: StreamDelta }
  | { readonly type: "block_stop"; readonly index: number }
  /** `aborted` or `error` if the answer broke off. */
  | { readonly type: "message_stop"; readonly stop: string };

export type StreamEmitter = {
  /** Returns false if a block with this key is open. */
  readonly start: (key: string, block: StreamBlock) => boolean;
  readonly delta: (key: string, delta: StreamDelta) => void;
  readonly stop: (key: string) => void;
  readonly end: (stop: string) => void;
};

export function createStreamEmitter(emit: (event: StreamEvent) => void): StreamEmitter {
  const open = new Map<string, number>();
  const halves = new Map<string, StreamDelta>();
  let next = 0;
  const emitDelta = (index: number, { type, delta }: StreamDelta): void => {
    if (delta !== "") emit({ type: "delta", index, delta: { type, delta: delta.toWellFormed() } });
  };
  const stop = (key: string): void => {
    const index = open.get(key);
    if (index === undefined) return;
    const half = halves.get(key);
    halves.delete(key);
    open.delete(key);
    if (half) emitDelta(index, half);
    emit({ type: "block_stop", index });
  };
  emit({ type: "message_start" });
  return {
    start: (key, block) => {
      if (open.has(key)) return false;
      open.set(key, next);
      emit({ type: "block_start", index: next, block: block.type === "call" ? wellFormedCall(block) : block });
      next += 1;
      return true;
    },
    delta: (key, { type, delta }) => {
      const index = open.get(key);
      if (index === undefined) return;
      const text = (halves.get(key)?.delta ?? "") + delta;
      const whole = FIRST_HALF.test(text) ? text.slice(0, -1) : text; // the other half of a surrogate pair may come with the next piece
      if (whole === text) halves.delete(key);
      else halves.set(key, { type, delta: text.slice(-1) });
      emitDelta(index, { type, delta: whole });
    },
    stop,
    end: (why) => {
      for (const key of [...open.keys()]) stop(key);
      emit({ type: "message_stop", stop: why });
    },
  };
}

const FIRST_HALF = /[\ud800-\udbff]$/;

function wellFormedCall({ type, id, tool }: Extract<StreamBlock, { readonly type: "call" }>): StreamBlock {
  return { type, id: id.toWellFormed(), tool: tool.toWellFormed() };
}
