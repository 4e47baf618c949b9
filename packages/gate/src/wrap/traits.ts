import { type CallContext, isObject, type JsonSchema, KINDS, type Kind, type Maybe, type ToolDefinition, type Verdict } from "@assent/core";
import { GateUsageError } from "../gate-error.ts";

/** What Assent should know about a tool that was written without it. */
export type ToolTraits = {
  /** What the tool does. `read` and `search` run without asking; the others ask unless a rule allows them. Default: `other`. */
  readonly kind?: Kind;
  /** The tool's own opinion: a verdict, or a function of the input. */
  readonly permission?: Verdict | ((input: never, ctx: CallContext) => Maybe<Verdict | undefined>);
  /** The files that a call touches, so that rules about paths apply. */
  readonly locations?: (input: never, ctx: CallContext) => readonly { readonly path: string; readonly line?: number }[];
  readonly timeoutMs?: number;
};

/** The fields of a definition that traits set. */
export type TraitsDefinition = Pick<ToolDefinition<JsonSchema, unknown>, "kind" | "permission" | "locations" | "timeoutMs">;

const FIELDS = ["kind", "permission", "locations", "timeoutMs"];
const VERDICTS: readonly unknown[] = ["allow", "ask", "deny"] satisfies Verdict[];

/** The part of a definition that traits make. `asks` says whether the tool itself wants a person for an input. */
export function traitsDefinition(
  name: string,
  traits: ToolTraits | undefined,
  asks?: (input: unknown, ctx: CallContext) => Maybe<boolean>,
): TraitsDefinition {
  checkTraits(name, traits);
  const { kind = "other", permission, locations, timeoutMs } = traits ?? {};
  return {
    kind,
    ...((permission !== undefined || asks) && { permission: ownPermission(kind, permission, asks) }),
    ...(locations && { locations: locations as NonNullable<TraitsDefinition["locations"]> }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

/** 1. the tool wants a person: ask 2. the given permission 3. as without an opinion: only tools that read pass */
function ownPermission(
  kind: Kind,
  permission: ToolTraits["permission"],
  asks: ((input: unknown, ctx: CallContext) => Maybe<boolean>) | undefined,
): NonNullable<TraitsDefinition["permission"]> {
  const byKind: Verdict = kind === "read" || kind === "search" ? "allow" : "ask";
  return async (input, ctx) => {
    const given = typeof permission === "function" ? await permission(input as never, ctx) : permission;
    const own = given ?? byKind;
    if (own !== "deny" && (await asks?.(input, ctx))) return "ask";
    return own;
  };
}

function checkTraits(name: string, traits: unknown): void {
  if (traits === undefined) return;
  const refuse = (text: string): never => {
    throw new GateUsageError("bad_tool", `The traits of tool '${name}' ${text}.`);
  };
  if (!isObject(traits)) throw refuse('must be an object such as { kind: "read" }');
  const unknown = Object.keys(traits).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) refuse(`have no field '${unknown}'; they have ${FIELDS.join(", ")}`);
  const { kind, permission, locations } = traits;
  if (kind !== undefined && !KINDS.some((known) => known === kind)) refuse(`need a kind of ${KINDS.join(", ")}`);
  if (permission !== undefined && typeof permission !== "function" && !VERDICTS.includes(permission))
    refuse('need a permission of "allow", "ask" or "deny", or a function that returns one');
  if (locations !== undefined && typeof locations !== "function") refuse("need a function in locations");
}

/** The entry of a tool. A tool may have a name that every object has, such as `constructor`. */
export function entryOf<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** Refuses traits of tools that are not in the set: a typo would leave a tool without them. */
export function checkTraitNames(names: readonly string[], traits: unknown): void {
  if (!isObject(traits) || Array.isArray(traits))
    throw new GateUsageError("bad_tool", 'Traits must be an object by tool name, such as { mail: { kind: "read" } }.');
  const unknown = Object.keys(traits).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new GateUsageError("bad_tool", `There are traits for a tool '${unknown}', but the tools are ${names.join(", ")}.`);
}
