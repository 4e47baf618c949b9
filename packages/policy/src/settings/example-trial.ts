import type { JsonObject, Kind, Location, Request } from "@assent/core";
import { policyFacts } from "../facts/facts.ts";
import { pathScope } from "../paths/scope.ts";
import type { RuleTools } from "../rules/rule.ts";
import type { ExampleTrial } from "./compile-rules.ts";

/** A directory that is never made: for examples the workspace is empty. */
const EMPTY_WORKSPACE = "/nonexistent/workspace";

/** Tools that groups of rules speak of, where they are not registered. */
const STAND_INS: Readonly<Record<string, Kind>> = { shell: "execute", read: "read", edit: "edit", write: "edit", fetch: "fetch" };

/** Makes requests of examples, in an empty workspace. Nothing runs. */
export function exampleTrial(tools: RuleTools, kindOf: (tool: string) => Kind | undefined): ExampleTrial {
  const facts = policyFacts({ workspace: EMPTY_WORKSPACE, look: pathScope({ workspace: EMPTY_WORKSPACE }) });
  return {
    workspace: EMPTY_WORKSPACE,
    evaluate: (tool, input) => {
      const kind = kindOf(tool) ?? STAND_INS[tool] ?? "other";
      const found = facts({ tool, kind, input, cwd: EMPTY_WORKSPACE, locations: locationsOf(tools, tool, input) });
      if (found instanceof Promise) throw new Error("facts of examples are at hand");
      const { units, binds } = found;
      return { tool, toolDigest: "", kind, input, cwd: EMPTY_WORKSPACE, binds, units } satisfies Request;
    },
  };
}

function locationsOf(tools: RuleTools, tool: string, input: JsonObject): readonly Location[] | undefined {
  const paths = tools.get(tool)?.pathArgs?.flatMap((name) => input[name] ?? []);
  return paths?.filter((path) => typeof path === "string").map((path) => ({ path }));
}
