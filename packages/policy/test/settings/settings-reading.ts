import type { Mode } from "@assent/core";
import { readHooks } from "../../src/hooks/read.ts";
import { createExampleTrial } from "../../src/rules/examples.ts";
import type { RuleTool } from "../../src/rules/rule.ts";
import { assemblePolicy } from "../../src/settings/load-policy.ts";
import { listLayerSources, type PolicyLocations } from "../../src/settings/locations.ts";
import { formatProblem, type SettingsProblem } from "../../src/settings/problem.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { SETTINGS } from "../../src/settings/settings.ts";
import { PARTS } from "./policy-bench.ts";

/** Texts of settings files by the layer they stand in; `trusted` is the project of a workspace that is. `--…` are flags. */
export type Written = Readonly<Record<string, string>>;

const TOOLS: Readonly<Record<string, RuleTool>> = {
  shell: { kind: "execute", commandArg: "command" },
  read: { kind: "read", pathArgs: ["file_path"] },
  deploy: { kind: "other" },
};
const tools = { get: (name: string) => TOOLS[name], names: () => Object.keys(TOOLS) };

/** What all files together come to: every problem with its place and words, and each value, rule and hook that counts and is not the default. */
export function readingOf(written: Written): readonly string[] {
  const places = placesOf(written);
  const texts: Written = { ...written, ...(written["trusted"] !== undefined && { project: written["trusted"] }) };
  const layers = listLayerSources(places, { user: undefined, team: 0 }).map((source) => ({
    source,
    written: readSettings(`${source.scope}.json`, texts[source.scope] ?? "{}"),
  }));
  const { loaded, problems } = assemblePolicy(
    layers.map(({ source, written: said }) => ({ source: { ...source, file: `${source.scope}.json` }, written: said })),
    places,
    {
      ...PARTS,
      tools,
      examples: createExampleTrial(tools, (name) => TOOLS[name]?.kind as never),
      hooks: (layer) => readHooks(layer, { functions: ["known"], compileRule, tools: tools.names }),
    },
  );
  const values = Object.entries(loaded.settings).filter(([key, value]) => !isInitial(key, value));
  return [
    ...problems.map(problemOf),
    ...values.map(([key, value]) => `${key} is ${JSON.stringify(value)}`),
    ...loaded.rules.map(({ verdict, at: { text, source, line, column, because } }) =>
      [verdict, text, "of", source, line, column, because].filter((one) => one !== undefined).join(" "),
    ),
    ...loaded.stage.map(({ at: { text } }) => `stage ${text}`),
    ...loaded.hookEntries.map(({ definition, name, source }) => `hook ${name} of ${source} ${definition}`),
  ];
}

function compileRule(text: string): ReturnType<Parameters<typeof readHooks>[1]["compileRule"]> {
  return text === "broken"
    ? { fault: { type: "rule_syntax", message: "it is broken", hint: "mend it" } }
    : { test: () => Promise.resolve(true) };
}

function placesOf(written: Written): PolicyLocations {
  const list = (flag: string): readonly string[] => (written[flag] === undefined ? [] : [written[flag]]);
  return {
    workspace: "/w",
    home: "/h",
    userFile: "user.json",
    teamFile: "team.json",
    trusted: written["trusted"] !== undefined,
    ...(written["policy"] !== undefined && { policyFile: "policy.json" }),
    session: {
      allow: list("--allow"),
      ask: list("--ask"),
      deny: list("--deny"),
      additionalDirectories: list("--add-dir"),
      ...(written["--mode"] !== undefined && { mode: written["--mode"] as Mode }),
      ...(written["--on-ask"] !== undefined && { onAsk: written["--on-ask"] }),
    },
  };
}

function problemOf(problem: SettingsProblem): string {
  const { type, key, hint, effect, kept } = problem;
  return `${effect}${kept ? ", kept" : ""}: ${type} ${key && `${key} `}${formatProblem(problem)} (${hint})`;
}

function isInitial(key: string, value: unknown): boolean {
  if (key === "projectSecretEnv") return Array.isArray(value) && value.length === 0; // not a key of a file
  const row = Object.entries(SETTINGS).find(([name]) => name === key)?.[1];
  return row !== undefined && "initial" in row && JSON.stringify(row.initial) === JSON.stringify(value);
}
