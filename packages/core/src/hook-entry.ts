import type { Scope } from "./model/decision.ts";
import type { HookPoint } from "./model/hooks/event-table.ts";
import type { JsonObject } from "./model/json/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Maybe } from "./tool-definition.ts";

/** The call a hook may be about, as far as a rule can look at it before anyone judges. */
export type HookSubject = { readonly tool: string; readonly kind: Kind; readonly input: JsonObject; readonly cwd: string };

/** What a hook runs: a program (by the shell, or directly where there are `args`), or a function known by name. */
export type HookBody =
  | {
      readonly type: "command";
      readonly command: string;
      readonly args?: readonly string[];
      /** Variables with their values. */
      readonly env?: Readonly<Record<string, string>>;
      /** Names passed on although they are secret or never passed. */
      readonly passEnv?: readonly string[];
    }
  | { readonly type: "function"; readonly function: string };

/** One configured hook, understood and ready to be run. */
export type HookEntry = {
  readonly event: HookPoint;
  /** For messages. */
  readonly name: string;
  readonly source: Scope;
  readonly body: HookBody;
  /** The compiled matcher; absent: all. */
  readonly matches?: (value: string) => boolean;
  /** The compiled `if` rule, read broadly; a throw counts as yes. */
  readonly test?: (subject: HookSubject) => Maybe<boolean>;
  readonly timeoutMs: number;
  readonly onFailure: "block" | "warn";
  /** Nobody waits for it, and its result is ignored. */
  readonly async: boolean;
  /** The definition but for its name, in one spelling: hooks of equal definitions run once. */
  readonly definition: string;
};

/** A hook in this process: the input is deep-frozen, `undefined` is no opinion, anything but an object of the documented fields is a failure. */
export type HookFunction = (input: JsonObject, context: { readonly signal: AbortSignal }) => unknown;
