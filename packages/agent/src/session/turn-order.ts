import type { RunEnd } from "../loop/conversation.ts";

/** Runs of turns, one at a time. */
export type TurnOrder = {
  /** Runs when those before have ended; what a person says goes before what the runtime has to tell. Undefined: it is not needed any more, or nothing runs any more. */
  readonly run: (talk: (signal: AbortSignal) => Promise<RunEnd>, how: How) => Promise<RunEnd | undefined>;
  /** Something runs, or waits to. */
  readonly isBusy: () => boolean;
  /** Resolves when nothing runs, nor waits to. */
  readonly rest: () => Promise<void>;
  readonly isClosed: () => boolean;
  /** How the last run ended; `done` before the first. */
  readonly last: () => RunEnd["reason"];
  /** Ends the run under way. */
  readonly interrupt: () => void;
  /** Ends the run under way, with this abort reason; none follows it. */
  readonly close: (reason?: unknown) => Promise<void>;
};

type How = {
  readonly signal: AbortSignal;
  /** For what the runtime tells: asked when its turn has come. Absent: a person speaks. */
  readonly isNeeded?: () => boolean;
};

type Waiting = { readonly isPerson: boolean; readonly start: () => void };

/** A new order, in which nothing runs yet. */
export function makeTurnOrder(): TurnOrder {
  const waiting: Waiting[] = [];
  const idle: (() => void)[] = [];
  let current: AbortController | undefined;
  let last: RunEnd["reason"] = "done";
  let isClosed = false;
  const next = (): void => {
    const at = waiting.findIndex(({ isPerson }) => isPerson);
    const [first] = waiting.splice(Math.max(at, 0), 1);
    if (first) first.start();
    else {
      current = undefined;
      for (const ended of idle.splice(0)) ended();
    }
  };
  const begin = async (talk: (signal: AbortSignal) => Promise<RunEnd>, { signal, isNeeded }: How): Promise<RunEnd | undefined> => {
    if (isClosed || isNeeded?.() === false) return undefined;
    current = new AbortController();
    const end = await talk(AbortSignal.any([signal, current.signal]));
    last = end.reason;
    return end;
  };
  const rest = async (): Promise<void> => {
    if (current) await new Promise<void>((ended) => idle.push(ended));
  };
  return {
    run: async (talk, how) => {
      if (current) await new Promise<void>((start) => waiting.push({ isPerson: !how.isNeeded, start }));
      else current = new AbortController(); // taken before anybody else can ask
      return await begin(talk, how).finally(next);
    },
    isBusy: () => current !== undefined,
    rest,
    isClosed: () => isClosed,
    last: () => last,
    interrupt: () => current?.abort(),
    close: async (reason) => {
      isClosed = true;
      current?.abort(reason);
      await rest();
    },
  };
}
