import { statSync } from "node:fs";
import { type Facts, isObject, type Json, type JsonObject, MUTATOR_KINDS, type RequestFacts } from "@assent/core";
import type { PathFact, PathLookup } from "../paths/lookup.ts";
import { resolveHome } from "../paths/resolve.ts";
import { type AnalyzedLine, analyzeShell } from "../shell/plan/analyze.ts";
import { findOnUserPath, type ProgramFinder, programFinder, programPlaces } from "../shell/plan/find-program.ts";
import type { Command, Plan } from "../shell/plan/plan.ts";
import type { OutsideShell, ShellPlace } from "../shell/plan/read-commands.ts";
import { createHostUnit, createPathUnit } from "./units.ts";

/** Options for gathering facts. */
export type FactOptions = {
  /** Real path. */
  readonly workspace: string;
  /** Defaults to the account's home directory. */
  readonly home?: string;
  readonly look: PathLookup;
  /** Directories for looking up programs of allowed commands; if there are none, the system's, then those of `userPath`. */
  readonly programPath?: () => readonly string[];
  /** The user's `PATH`. */
  readonly userPath?: string | undefined;
  /** Digest of the script that a package command ran when the policy was loaded. */
  readonly scripts?: ShellPlace["scripts"];
  readonly secretNames?: ShellPlace["secretNames"];
  /** Another program runs the command, in a shell of its own. */
  readonly outside?: OutsideShell;
};

/** Only this tool runs from its plan. */
const SHELL_TOOL_NAME = "shell";

/** Finds out what a request means: one unit per simple command, file or URL. What an approval depends on is bound. */
export function createPolicyFacts(places: FactOptions): Facts {
  const { look } = places;
  const finder = programFinderFor(places);
  const seenScripts: ScriptHistory = new Map();
  return ({ tool, kind, input, cwd, locations }) => {
    const { url } = input;
    const command = commandLine(input);
    if (kind === "execute" && command !== undefined) {
      const found = describeShellLine({ command, input, cwd }, { places, seenScripts, ...finder() });
      return tool === SHELL_TOOL_NAME ? found : withoutReadOnlyProof(found);
    }
    if (locations && locations.length > 0)
      return describePaths(
        locations.map(({ path, use, argument }) => ({
          ...look(path, cwd),
          ...(use && { use }),
          ...(argument !== undefined && { argument }),
        })),
        { writes: MUTATOR_KINDS.includes(kind), input },
      );
    if (kind === "fetch" && typeof url === "string") return describeUrl(url);
    return { units: [{ subject: tool }], binds: {} };
  };
}

type PathUse = { readonly writes: boolean; readonly input: JsonObject };

function describePaths(paths: readonly PathFact[], { writes, input }: PathUse): RequestFacts {
  const planned = paths.every(({ planFile }) => planFile) && paths.every((path) => fitsPlanLimit(path, input));
  return {
    units: paths.map(createPathUnit),
    binds: bindLinks(paths),
    insideWorkspace: paths.every((path) => path.inside && !(writes && path.writeHazards.length > 0)),
    ...(paths.some(isExposed) && { exposes: true }),
    ...(planned && { planFile: true }),
    view: { paths: paths.map(({ lexical, real, inside, sensitive, control }) => ({ lexical, real, inside, sensitive, control })) },
  };
}

/** Tools whose kind says what they do ask about such paths themselves. */
function isExposed({ use, sensitive, inside, ownOutput }: PathFact): boolean {
  return use !== undefined && (sensitive || !(inside || ownOutput));
}

const MAX_PLAN_BYTES = 256 * 1024;

/** A whole new text replaces the file; other texts add to it. */
function fitsPlanLimit({ absolute }: PathFact, { content, ...rest }: JsonObject): boolean {
  if (typeof content === "string") return Buffer.byteLength(content) <= MAX_PLAN_BYTES;
  const there = statSync(absolute, { throwIfNoEntry: false })?.size ?? 0;
  const texts = Object.values(rest).filter((value) => typeof value === "string");
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), there) <= MAX_PLAN_BYTES;
}

function bindLinks(paths: readonly PathFact[]): Readonly<Record<string, string>> {
  const linked = paths.filter(({ absolute, real }) => real !== absolute);
  return Object.fromEntries(linked.map(({ absolute, real }) => [absolute, `leads to ${real ?? "an unreadable place"}`]));
}

function describeUrl(url: string): RequestFacts {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : null;
  return { units: [createHostUnit({ url, host })], binds: {}, view: { host } };
}

/** The command with its `args`, if the tool takes them apart. They are read as a shell would, which is the stricter reading. */
function commandLine({ command, args }: JsonObject): string | undefined {
  if (typeof command !== "string") return undefined;
  return Array.isArray(args) ? [command, ...args.map(String)].join(" ") : command;
}

type ShellRequest = { readonly command: string; readonly input: JsonObject; readonly cwd: string };

type ProgramFinders = { readonly findProgram: ProgramFinder; readonly findUntrusted: (name: string) => string | undefined };

type ShellSurroundings = ProgramFinders & { readonly places: FactOptions; readonly seenScripts: ScriptHistory };

function programFinderFor({ workspace, programPath, userPath: own, outside }: FactOptions): () => ProgramFinders {
  const userPath = outside ? outside.env["PATH"] : own;
  let path: readonly string[] | undefined;
  let finders: ProgramFinders | undefined;
  return () => {
    const given = programPath?.() ?? NO_DIRECTORIES;
    if (!finders || given !== path)
      finders = {
        findProgram: programFinder(programPlaces(given, { workspace, userPath })),
        findUntrusted: (name) => findOnUserPath(name, { path: [], workspace, userPath }),
      };
    path = given;
    return finders;
  };
}

const NO_DIRECTORIES: readonly string[] = [];

/** Commands of other tools are analyzed so that rules apply; only the shell proves that a command only reads. */
function withoutReadOnlyProof(found: RequestFacts): RequestFacts {
  const { units, binds, plan, planDigest, view } = found;
  return {
    units: units.map((unit) => ({ ...unit, readOnly: false })),
    binds,
    safe: false,
    plan,
    ...(planDigest !== undefined && { planDigest }),
    ...(view !== undefined && { view }),
  };
}

function describeShellLine(
  { command, input, cwd: from }: ShellRequest,
  { places, seenScripts, findProgram, findUntrusted }: ShellSurroundings,
): RequestFacts {
  const { workspace, look, home, scripts, secretNames, outside } = places;
  const fields = isObject(input["more"]) ? (input["more"] as JsonObject) : {};
  const cwd = typeof input["cwd"] === "string" ? look(input["cwd"], from).absolute : from;
  const linked: PathFact[] = [];
  const noting: PathLookup = (path, directory) => {
    const fact = look(path, directory);
    if (fact.real !== fact.absolute) linked.push(fact);
    return fact;
  };
  const analysed = analyzeShell(command, {
    ...{ cwd, workspace, look: noting, findProgram, findUntrusted, home: resolveHome(home) },
    ...(scripts && { scripts }),
    ...(secretNames && { secretNames }),
    ...(outside && { outside: { ...outside, fields } }),
  });
  // The shell opens the files of input redirections for every program.
  for (const { redirections, cwd: at } of analysed.line.plan.commands)
    for (const { op, target, dynamic } of redirections) if (op === "<" && !dynamic) noting(target, at ?? cwd);
  const binds = bindScripts(analysed);
  const seen = listScripts(binds, seenScripts);
  const { line, units, planned } = analysed;
  return {
    units,
    binds: { ...bindLinks(linked), ...binds, ...Object.fromEntries(analysed.patterns.map(({ file, digest }) => [file, digest])) },
    safe: line.readOnly,
    plan: planned,
    planDigest: line.plan.digest,
    view: viewPlan(line.plan, seen),
  };
}

function bindScripts({ scripts, packageScripts }: AnalyzedLine): Readonly<Record<string, string>> {
  return Object.fromEntries([...scripts, ...packageScripts].map(({ file, digest }) => [file, digest]));
}

type ScriptHistory = Map<string, { readonly digest: string; readonly before: string | undefined }>;

/** A changed script shows both digests. */
function listScripts(binds: Readonly<Record<string, string>>, seenScripts: ScriptHistory): readonly Json[] {
  return Object.entries(binds).map(([file, digest]) => {
    const known = seenScripts.get(file);
    const before = known?.digest === digest ? known.before : known?.digest;
    seenScripts.set(file, { digest, before });
    return { file, digest, ...(before !== undefined && { before }) };
  });
}

function viewPlan(plan: Plan, scripts: readonly Json[]): Json {
  const hazards = [...plan.hazards, ...plan.commands.flatMap((command) => command.hazards)].map(({ id, text }) => ({ id, text }));
  return {
    plan: { digest: plan.digest, shape: plan.shape, cwd: plan.cwd, commands: plan.commands.map(viewCommand) },
    ...(hazards.length > 0 && { hazards }),
    ...(scripts.length > 0 && { scripts }),
  };
}

function viewCommand({ argv, path, cwd }: Command): Json {
  return { argv: argv.map(({ text }) => text), path: [...path], cwd };
}
