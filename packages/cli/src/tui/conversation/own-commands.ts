import type { Stage } from "../screen/stage.ts";

/** Commands that the person runs themselves, beside the model. */
export type OwnCommands = {
  /** Resolves when it has ended. */
  readonly run: (line: string) => Promise<void>;
  /** Ends those that run, with their processes. False: none did. */
  readonly stop: () => boolean;
  /** Resolves when none runs. */
  readonly idle: () => Promise<void>;
};

/** Keeps count of commands; each is begun with a signal of its own. */
export function ownCommands({ shown, changed }: Pick<Stage, "shown" | "changed">, begin: Begin): OwnCommands {
  const running = new Map<AbortController, Promise<void>>();
  const count = (): void => {
    shown.commands = running.size;
    changed();
  };
  return {
    run: async (line) => {
      const stopping = new AbortController();
      const ended = begin(line, stopping.signal).finally(() => {
        running.delete(stopping);
        count();
      });
      running.set(stopping, ended);
      count();
      await ended;
    },
    stop: () => {
      for (const stopping of running.keys()) stopping.abort();
      return running.size > 0;
    },
    idle: async () => void (await Promise.all(running.values())),
  };
}

type Begin = (line: string, stopped: AbortSignal) => Promise<void>;
