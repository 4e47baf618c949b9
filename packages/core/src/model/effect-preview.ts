/** What a command changed when it ran on a copy of the workspace, as shown to people. */
export type ShownEffect = {
  readonly id: string;
  /** How it ended, as a sentence without its full stop: "exit code 0". */
  readonly ended: string;
  readonly succeeded: boolean;
  readonly durationMs: number;
  /** Its output, cut to what fits a card. */
  readonly output: string;
  readonly changes: readonly ShownChange[];
  /** The text of each change: a diff where there is one. */
  readonly blocks: readonly string[];
  /** What could not be shown or was thrown away. */
  readonly notes: readonly string[];
  /** Why the changes cannot be written; absent if they can. */
  readonly unwritable?: string;
};

/** One changed path, relative to the workspace. */
export type ShownChange = {
  readonly path: string;
  readonly what: "created" | "modified" | "deleted" | "mode" | "refused";
  /** More about it: the new mode, the target of a link, the size of a binary file. */
  readonly note?: string;
  /** Why this file later runs by itself, if it does. */
  readonly runs?: string;
};

/** Whether an approval can show, or shows, what the call would do. */
export type EffectOffer =
  | { readonly state: "offered" }
  | { readonly state: "unavailable"; readonly reason: string }
  | ({ readonly state: "shown" } & ShownEffect);
