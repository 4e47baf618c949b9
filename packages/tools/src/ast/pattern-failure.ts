import type { ToolResult } from "@assent/core";
import { failure } from "../failure.ts";
import { loadEngine } from "./engine.ts";
import { type Language, languageOf } from "./languages.ts";
import { prepareOps } from "./prepared-ops.ts";

/** The failure of a call whose patterns parse in none of the languages that the paths show. Undefined if a path shows no language. Reads no files. */
export async function findPatternFailure(
  patterns: readonly string[],
  paths: readonly string[],
  only?: Language,
): Promise<ToolResult | undefined> {
  const languages = new Set(only ? [only] : paths.map(languageOf));
  const known = [...languages].filter((language) => language !== undefined);
  if (known.length < languages.size) return undefined;
  const ops = prepareOps(
    await loadEngine(),
    patterns.map((pat) => ({ pat, out: "" })),
  );
  if (known.some((language) => ops.in(language).length > 0)) return undefined;
  const issues = ops.issues().filter(({ op }) => op !== undefined);
  const text = issues.map(({ op, message }) => (patterns.length > 1 ? `ops[${op}]: ${message}` : message)).join("; ");
  return issues.length === 0 ? undefined : failure("invalid_tool_params", `${text}. Nothing was searched or changed.`);
}
