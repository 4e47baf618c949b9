import { isAbsolute } from "node:path";
import { hiddenText, type ValueReader } from "./setting-values.ts";

/** True for `env:NAME` and `file:PATH`, which say where a secret is. */
export function isSecretSource(value: string): boolean {
  if (value.startsWith("env:")) return /^env:[A-Za-z_][A-Za-z0-9_]*$/.test(value);
  const path = value.slice("file:".length);
  return value.startsWith("file:") && (isAbsolute(path) || path.startsWith("~/")) && !/[\0\n]/.test(path);
}

/** Reads where a secret is. A wrong value may be the secret itself. */
export const secretSource: ValueReader<string> = hiddenText(
  "env:NAME or file:PATH, because secrets do not belong in settings",
  isSecretSource,
);

/** The variables and files that hold secrets, to keep them from tools. */
export function secretPlaces(sources: readonly string[]): { readonly variables: readonly string[]; readonly files: readonly string[] } {
  const after = (prefix: string): string[] => sources.filter((source) => source.startsWith(prefix)).map((it) => it.slice(prefix.length));
  return { variables: after("env:"), files: after("file:") };
}
