import { createRedactor, type McpServerTransport } from "@assent/policy";
import { mentionedVariables } from "./expand.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Shorter values are also parts of ordinary words. */
const SHORTEST_SECRET = 4;

/**
 * Hides known forms of secrets, values and defaults with names of secrets, and variables in the configuration that are removed from the environment of
 * programs. The model also reads why a server failed.
 */
export function createServerRedactor(
  written: McpServerTransport,
  used: McpServerTransport,
  { environment, programEnvironment }: { readonly environment: Variables; readonly programEnvironment: Variables },
): (text: string) => string {
  const isSecret = (name: string): boolean => /key|token|secret|pass|auth|credential/i.test(name);
  const variables = mentionedVariables(written).flatMap(({ variable: name, fallback }): readonly (readonly [string, string])[] => {
    const value = environment[name];
    if (!value) return isSecret(name) ? [[name, fallback]] : [];
    return isSecret(name) || programEnvironment[name] === undefined ? [[name, value]] : [];
  });
  const named = Object.entries(used.type === "stdio" ? used.env : used.headers).filter(([name]) => isSecret(name));
  return createRedactor(
    [...named, ...variables].flatMap(([name, literal]) => (literal.length < SHORTEST_SECRET ? [] : [{ name, literal }])),
  );
}
