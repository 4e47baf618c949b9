import { createRedactor, type McpServerTransport } from "@assent/policy";
import { mentionedVariables } from "./expand.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Shorter values are also parts of ordinary words. */
const SHORTEST_SECRET = 4;

/**
 * Hides known forms of secrets, values with names of secrets, and variables in the configuration that are removed from the environment of programs.
 * The model also reads why a server failed.
 */
export function createServerRedactor(
  written: McpServerTransport,
  used: McpServerTransport,
  { environment, programEnvironment }: { readonly environment: Variables; readonly programEnvironment: Variables },
): (text: string) => string {
  const isSecret = (name: string): boolean => /key|token|secret|pass|auth|credential/i.test(name);
  const variables = mentionedVariables(written).filter((name) => isSecret(name) || programEnvironment[name] === undefined);
  const named = Object.entries(used.type === "stdio" ? used.env : used.headers).filter(([name]) => isSecret(name));
  const secrets = [...named, ...variables.map((name) => [name, environment[name] ?? ""] as const)];
  return createRedactor(secrets.flatMap(([name, literal]) => (literal.length < SHORTEST_SECRET ? [] : [{ name, literal }])));
}
