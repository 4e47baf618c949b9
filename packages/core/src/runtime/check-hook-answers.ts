import type { HookOpinion } from "../model/hooks/combine.ts";
import { isObject } from "../model/json/json.ts";
import type { Hooks } from "../ports.ts";

const TEXTS = ["reason", "rewrittenBy", "context", "feedback", "spokenBy", "stop"];

/** Checks what a program's port returns. A malformed answer counts as a failed hook, never as no opinion. */
export function checkHookAnswers(hooks: Hooks): Hooks {
  return {
    consult: async (event, input, signal) => readOpinion(await hooks.consult(event, input, signal)),
    ...(hooks.applies && { applies: (event, tool) => hooks.applies?.(event, tool) ?? true }),
    tell: (event, input) => hooks.tell(event, input),
  };
}

function readOpinion(said: HookOpinion | null | undefined): HookOpinion | undefined {
  if (said === undefined || said === null) return undefined;
  const fields: unknown = said;
  if (!isObject(fields)) throw new TypeError("invalid output (it is not an object)");
  const { verdict, name, interrupt, updatedOutput } = fields;
  if (verdict !== "allow" && verdict !== "ask" && verdict !== "deny" && verdict !== "none")
    throw new TypeError("invalid output (verdict is not one of allow, ask, deny, none)");
  if (typeof name !== "string") throw new TypeError("invalid output (name is not a text)");
  const wrong = TEXTS.find((field) => fields[field] !== undefined && typeof fields[field] !== "string");
  if (wrong !== undefined) throw new TypeError(`invalid output (${wrong} is not a text)`);
  if (interrupt !== undefined && typeof interrupt !== "boolean") throw new TypeError("invalid output (interrupt is not true or false)");
  if (updatedOutput !== undefined && typeof updatedOutput !== "string" && !Array.isArray(updatedOutput))
    throw new TypeError("invalid output (updatedOutput is neither a text nor a list)");
  return said;
}
