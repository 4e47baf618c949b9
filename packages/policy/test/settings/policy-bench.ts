import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { JsonObject, Kind, Request } from "@assent/core";
import type { RuleTool } from "../../src/rules/rule.ts";
import type { PolicyOptions } from "../../src/settings/load-policy.ts";
import type { PolicyLocations, SessionFlags } from "../../src/settings/locations.ts";
import { scratch } from "../scratch.ts";

/** Tools without any file, command or URL, so that rules need no analysis. */
const TOOLS: Readonly<Record<string, RuleTool>> = { deploy: { kind: "other" }, ship: { kind: "other" }, note: { kind: "edit" } };

/** What loading needs in these tests. Whoever runs them owns all files. */
export const PARTS: PolicyOptions = {
  tools: { get: (name) => TOOLS[name], names: () => Object.keys(TOOLS) },
  digest: { sha256: (text) => createHash("sha256").update(text).digest("hex") },
  safeguards: () => [],
  examples: { workspace: "/nonexistent", evaluate: (tool, input) => call(tool, input) },
  teamUid: process.getuid?.() ?? 0,
};

/** A call of one of the tools. */
export function call(tool: string, input: JsonObject = {}): Request {
  return { tool, toolDigest: "d", kind: (TOOLS[tool]?.kind ?? "other") as Kind, input, cwd: "/", binds: {}, units: [{ subject: tool }] };
}

/** Texts or values of the files; what is not named is not there. */
export type Files = {
  readonly project?: string | object;
  readonly user?: string | object;
  readonly team?: string | object;
  readonly policy?: string | object;
  readonly trusted?: boolean;
  readonly flags?: Partial<SessionFlags>;
};

/** A directory with these settings files. */
export function placesWith(t: TestContext, { project, user, team, policy, trusted = false, flags = {} }: Files): PolicyLocations {
  const directory = scratch(t);
  const places: PolicyLocations = {
    workspace: join(directory, "w"),
    home: join(directory, "h"),
    userFile: join(directory, "h", ".config", "assent", "settings.json"),
    teamFile: join(directory, "etc", "assent", "settings.json"),
    trusted,
    session: { allow: [], ask: [], deny: [], ...flags },
    ...(policy !== undefined && { policyFile: join(directory, "policy.json") }),
  };
  mkdirSync(places.workspace);
  mkdirSync(places.home);
  put(projectFileOf(places), project);
  put(places.userFile, user);
  put(places.teamFile, team);
  put(join(directory, "policy.json"), policy);
  return places;
}

/** The project's settings file of these places. */
export function projectFileOf({ workspace }: PolicyLocations): string {
  return join(workspace, ".assent", "settings.json");
}

/** Writes a settings file that only its owner can write. */
export function put(file: string, content: string | object | undefined): void {
  if (content === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  chmodSync(file, 0o644);
}
