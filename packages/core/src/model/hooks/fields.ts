import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { sameJson } from "../json/same.ts";

type Rewrite = { readonly updatedInput?: JsonObject; readonly updatedInputMode?: "merge" | "replace" };

/** A hook's answer with typed fields: its root object, `hookSpecificOutput`, and that object's `decision`. */
export type HookAnswer = {
  readonly top: {
    readonly continue?: boolean;
    readonly stopReason?: string;
    readonly decision?: "block" | "deny" | "approve" | "allow" | "ask";
    readonly reason?: string;
    readonly systemMessage?: string;
    readonly suppressOutput?: boolean;
    readonly hookSpecificOutput?: JsonObject;
  };
  readonly specific: Rewrite & {
    readonly hookEventName?: string;
    readonly permissionDecision?: "allow" | "ask" | "deny" | "defer";
    readonly permissionDecisionReason?: string;
    readonly additionalContext?: string;
    readonly decision?: JsonObject;
    readonly updatedToolOutput?: string;
  };
  readonly permission: Rewrite & {
    readonly behavior?: "allow" | "deny";
    readonly updatedPermissions?: Json;
    readonly message?: string;
    readonly interrupt?: boolean;
  };
};

/** The type of a field; a list holds its allowed values. */
type Type = "boolean" | "text" | "object" | "any" | readonly string[];
type FieldTypes<T> = { readonly [Name in keyof Required<T>]: Type };

const REWRITE: FieldTypes<Rewrite> = { updatedInput: "object", updatedInputMode: ["merge", "replace"] };

const TOP: FieldTypes<HookAnswer["top"]> = {
  continue: "boolean",
  stopReason: "text",
  decision: ["block", "deny", "approve", "allow", "ask"],
  reason: "text",
  systemMessage: "text",
  suppressOutput: "boolean",
  hookSpecificOutput: "object",
};

const SPECIFIC: FieldTypes<HookAnswer["specific"]> = {
  ...REWRITE,
  hookEventName: "text",
  permissionDecision: ["allow", "ask", "deny", "defer"],
  permissionDecisionReason: "text",
  additionalContext: "text",
  decision: "object",
  updatedToolOutput: "text",
};

const PERMISSION: FieldTypes<HookAnswer["permission"]> = {
  ...REWRITE,
  behavior: ["allow", "deny"],
  updatedPermissions: "any",
  message: "text",
  interrupt: "boolean",
};

type WrongField = { readonly wrong: string };

/** Reads the three levels of an answer; one field of a wrong type makes it invalid, unknown fields are ignored. */
export function readAnswer(answer: JsonObject): HookAnswer | WrongField {
  const top = readFields(answer, TOP);
  if ("wrong" in top) return top;
  const specific = readFields(top.fields.hookSpecificOutput ?? {}, SPECIFIC);
  if ("wrong" in specific) return specific;
  const permission = readFields(specific.fields.decision ?? {}, PERMISSION);
  if ("wrong" in permission) return permission;
  if (specific.fields.decision && permission.fields.behavior === undefined) return { wrong: "behavior is missing" };
  return { top: top.fields, specific: specific.fields, permission: permission.fields };
}

function readFields<T>(object: JsonObject, shape: FieldTypes<T>): { readonly fields: T } | WrongField {
  const fields: Record<string, Json> = {};
  for (const [name, type] of Object.entries<Type>(shape)) {
    const found = [...new Set([name, snakeCase(name)])].filter((spelling) => Object.hasOwn(object, spelling));
    const [value, other = value] = found.map((spelling) => object[spelling]);
    if (value === undefined) continue;
    if (!sameJson(value, other)) return { wrong: `${found.join(" and ")} differ` };
    if (!isOfType(value, type)) return { wrong: `${name} is not ${expected(type)}` };
    fields[name] = value;
  }
  // Each field was just checked against its type.
  return { fields: fields as T };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isOfType(value: Json, type: Type): boolean {
  switch (type) {
    case "any":
      return true;
    case "text":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "object":
      return isObject(value);
    default:
      return typeof value === "string" && type.includes(value);
  }
}

function expected(type: Type): string {
  return typeof type === "string" ? `of type ${type}` : `one of ${type.join(", ")}`;
}
