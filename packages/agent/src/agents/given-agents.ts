import { createHash } from "node:crypto";
import { isObject } from "@assent/core";
import { parseAgent } from "./definition.ts";
import type { LoadedAgent, LoadedAgents } from "./load.ts";

/** Definitions that a program gives by name, trusted like the user's own: the fields of a file's front matter, and `prompt`. One that does not fit is left out. */
export function givenAgents(given: Readonly<Record<string, unknown>>, from: string): LoadedAgents {
  const read = Object.entries(given).map(([name, fields]) => ({ file: `${from}.${name}`, ...readGiven(name, fields) }));
  return {
    agents: read.flatMap((each): readonly LoadedAgent[] => {
      if ("problem" in each) return [];
      return [{ ...each.definition, file: each.file, level: "user", digest: each.digest, usable: true }];
    }),
    problems: read.flatMap((each) => ("problem" in each ? [{ file: each.file, ...each.problem }] : [])),
    warnings: read.flatMap((each) => ("problem" in each ? [] : each.warnings.map((warning) => `${each.file}: ${warning}`))),
  };
}

type Given = ReturnType<typeof parseAgent> & { readonly digest: string };

/** As the file that would say the same: JSON is YAML too, and every rule of a file holds. */
function readGiven(name: string, fields: unknown): Given {
  if (!isObject(fields)) return refused("the definition must be an object");
  const { prompt, ...front } = fields;
  if (typeof prompt !== "string" || prompt.trim() === "") return refused("prompt must be a text");
  const text = `---\n${JSON.stringify({ ...front, name })}\n---\n${prompt}`;
  return { ...parseAgent(text), digest: `sha256:${createHash("sha256").update(text).digest("hex")}` };
}

function refused(message: string): Given {
  return { problem: { line: 1, message }, digest: "" };
}
