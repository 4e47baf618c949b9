import { type JsonObject, MODES, type Mode } from "@assent/core";
import type { Options } from "./command-spec.ts";

/** What an ask becomes when nobody can be asked. */
export type OnAsk = "deny" | "park" | "fail";

/** The flags that judge a call; a session keeps them, so that its resume judges the same way. */
export type CallFlags = {
  readonly mode: Mode;
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
};

/** The flags of one command line. */
export function givenFlags(options: Options): CallFlags {
  return { mode: modeNamed(options.text("mode")), allow: options.list("allow"), ask: options.list("ask"), deny: options.list("deny") };
}

/** `--on-ask`, where it was given. */
export function givenOnAsk(options: Options): OnAsk | undefined {
  const given = options.text("on-ask");
  return given === "deny" || given === "park" || given === "fail" ? given : undefined;
}

/** The flags as `session.created` keeps them. */
export function keptFlags({ mode, allow, ask, deny }: CallFlags, onAsk: OnAsk | undefined): JsonObject {
  return { command: "call", mode, allow, ask, deny, onAsk: onAsk ?? null };
}

/** The flags a session began with and those of this resume: rules add up, a mode given now counts. */
export function resumedFlags(kept: JsonObject | undefined, options: Options): CallFlags {
  const given = givenFlags(options);
  const list = (name: string): readonly string[] => {
    const value = kept?.[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    mode: options.text("mode") === undefined ? modeNamed(kept?.["mode"]) : given.mode,
    allow: [...list("allow"), ...given.allow],
    ask: [...list("ask"), ...given.ask],
    deny: [...list("deny"), ...given.deny],
  };
}

function modeNamed(name: unknown): Mode {
  return MODES.find((mode) => mode === name) ?? "default";
}
