import { isAbsolute } from "node:path";
import { isObject, isTooDeep, type Json, type JsonObject } from "@assent/core";
import { GuardInputError } from "./guard-event.ts";

export function parseObject(text: string): JsonObject {
  if (isTooDeep(text)) throw new GuardInputError("The hook's input has more than 512 levels.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GuardInputError("The hook's input is not JSON.");
  }
  if (isObject(value)) return value as JsonObject;
  throw new GuardInputError("The hook's input is not a JSON object.");
}

export function requiredText(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value === "string" && value !== "") return value;
  throw new GuardInputError(`The hook's input has no ${name}.`);
}

export function requiredDirectory(from: JsonObject, name: string): string {
  const path = requiredText(from, name);
  if (isAbsolute(path)) return path;
  throw new GuardInputError(`The hook's input has a ${name} that is not an absolute path.`);
}

/** Reads an event that decides nothing, so that a fault in it denies nothing. */
export function readReport<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof GuardInputError ? new GuardInputError(error.message, { decides: false }) : error;
  }
}

/** Also a renamed event before a call, so it denies. */
export function unknownEvent(name: string): GuardInputError {
  return new GuardInputError(`Assent does not know the event ${JSON.stringify(name)}.`);
}

export function optionalText(from: JsonObject, name: string): string | undefined {
  const value = from[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function requiredObject(from: JsonObject, name: string): JsonObject {
  const value = from[name];
  if (isObject(value)) return value as JsonObject;
  throw new GuardInputError(`The hook's input has no ${name}.`);
}

const MOST_CHARS = 16_000;

/** A result as text, cut in the middle if it is long. */
export function resultText(value: Json | undefined): string {
  const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= MOST_CHARS) return text;
  const half = MOST_CHARS / 2;
  return `${text.slice(0, half).toWellFormed()}\n[${text.length - MOST_CHARS} characters left out]\n${text.slice(-half).toWellFormed()}`;
}
