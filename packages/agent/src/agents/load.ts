import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, messageOf } from "@assent/core";
import { type AgentDefinition, type AgentProblem, parseAgent } from "./definition.ts";

/** Where a definition comes from. */
export type AgentLevel = "project" | "user" | "built-in";

/** A definition with its file. */
export type LoadedAgent = AgentDefinition & {
  readonly file: string;
  readonly level: AgentLevel;
  /** SHA-256 of the file. */
  readonly digest: string;
  /** False for a definition from an untrusted workspace, which is only listed. */
  readonly usable: boolean;
};

/** All definitions, each name once, and what is wrong with other files. */
export type LoadedAgents = {
  readonly agents: readonly LoadedAgent[];
  readonly problems: readonly AgentProblem[];
  readonly warnings: readonly string[];
};

/** The folders to search, strongest first. */
export type AgentPlaces = {
  readonly folders: readonly { readonly path: string; readonly level: AgentLevel }[];
  /** A real path. Files of a project must be inside it. */
  readonly workspace: string;
  readonly trusted: boolean;
};

const MOST_BYTES = 1_048_576;

/** The folder of the built-in definitions. */
export function builtInAgentsFolder(): string {
  return fileURLToPath(new URL("../../src/agents/built-in", import.meta.url));
}

/** Loads definitions; the first folder that defines a name wins. Those of an untrusted project are listed, but not usable. */
export function loadAgents({ folders, workspace, trusted }: AgentPlaces): LoadedAgents {
  const read = folders.map(({ path, level }) =>
    readFolder({ path, level, usable: level !== "project" || trusted, inside: level === "project" ? workspace : undefined }),
  );
  const found = read.flatMap(({ agents }) => agents);
  const agents = new Map<string, LoadedAgent>();
  for (const agent of [...found.filter(({ usable }) => usable), ...found]) if (!agents.has(agent.name)) agents.set(agent.name, agent);
  return {
    agents: [...agents.values()],
    problems: read.flatMap(({ problems }) => problems),
    warnings: read.flatMap(({ warnings }) => warnings),
  };
}

type Folder = {
  readonly path: string;
  readonly level: AgentLevel;
  readonly usable: boolean;
  /** A real path that its files must be inside. */
  readonly inside: string | undefined;
};

function readFolder({ path, level, usable, inside }: Folder): LoadedAgents {
  const agents = new Map<string, LoadedAgent>();
  const problems: AgentProblem[] = [];
  const warnings: string[] = [];
  for (const file of filesIn(path)) {
    const read = readAgent(file, inside);
    if ("problem" in read) {
      problems.push({ file, ...read.problem });
      continue;
    }
    const { definition, digest } = read;
    const first = agents.get(definition.name);
    if (first) problems.push({ file, line: 1, message: `"${definition.name}" is already defined in ${first.file}` });
    else agents.set(definition.name, { ...definition, file, level, digest, usable });
    if (!first) warnings.push(...read.warnings.map((warning) => `${file}: ${warning}`));
  }
  return { agents: [...agents.values()], problems, warnings };
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".md") && !name.startsWith("."))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return []; // a missing folder defines nothing
  }
}

type AgentFileResult = ReturnType<typeof parseAgent> & { readonly digest: string };

function readAgent(file: string, inside: string | undefined): AgentFileResult {
  const refused = (message: string): AgentFileResult => ({ problem: { line: 1, message }, digest: "" });
  try {
    const real = realpathSync(file);
    if (inside !== undefined && !real.startsWith(`${inside}${sep}`)) return refused("outside the workspace");
    const bytes = regularBytes(real);
    if (typeof bytes === "string") return refused(bytes);
    return { ...parseAgent(bytes.toString("utf8")), digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
  } catch (error) {
    return refused(messageOf(error));
  }
}

/** Opens without blocking, so that a pipe cannot hang the program. */
function regularBytes(path: string): Buffer | string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return "is not a regular file";
    return stats.size > MOST_BYTES ? "prompt larger than 262144 bytes" : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads definitions that a program passes. They are trusted like the user's own. Invalid ones are left out. */
export function readAgentDefinitions(given: Readonly<Record<string, unknown>>, from: string): LoadedAgents {
  const read = Object.entries(given).map(([name, fields]) => ({ file: `${from}.${name}`, ...readFields(name, fields) }));
  return {
    agents: read.flatMap((each): readonly LoadedAgent[] => {
      if ("problem" in each) return [];
      return [{ ...each.definition, file: each.file, level: "user", digest: each.digest, usable: true }];
    }),
    problems: read.flatMap((each) => ("problem" in each ? [{ file: each.file, ...each.problem }] : [])),
    warnings: read.flatMap((each) => ("problem" in each ? [] : each.warnings.map((warning) => `${each.file}: ${warning}`))),
  };
}

type ReadDefinition = ReturnType<typeof parseAgent> & { readonly digest: string };

/** Parses the fields as the file that would contain them, so that the same checks apply. JSON is valid YAML. */
function readFields(name: string, fields: unknown): ReadDefinition {
  if (!isObject(fields)) return refused("the definition must be an object");
  const { prompt, ...front } = fields;
  if (typeof prompt !== "string" || prompt.trim() === "") return refused("prompt must be a text");
  const text = `---\n${JSON.stringify({ ...front, name })}\n---\n${prompt}`;
  return { ...parseAgent(text), digest: `sha256:${createHash("sha256").update(text).digest("hex")}` };
}

function refused(message: string): ReadDefinition {
  return { problem: { line: 1, message }, digest: "" };
}
