import { statSync } from "node:fs";
import { type Facts, type Json, type JsonObject, MUTATOR_KINDS, type RequestFacts } from "@assent/core";
import { homeDirectory } from "../paths/resolve.ts";
import type { PathFact, PathScope } from "../paths/scope.ts";
import { type Analysed, analyseShell } from "../shell/plan/analyze.ts";
import { PROGRAM_PATH } from "../shell/plan/find-program.ts";
import type { Command, Plan } from "../shell/plan/plan.ts";
import { type ProgramFinder, programFinder } from "../shell/plan/program-finder.ts";
import type { ShellPlace } from "../shell/plan/read-commands.ts";
import { hostUnit, pathUnit } from "./units.ts";

/** Where facts are gathered. */
export type FactPlaces = {
  /** As a real path. */
  readonly workspace: string;
  /** The home directory; the system's word for it when absent. */
  readonly home?: string;
  readonly look: PathScope;
  /** Directories in which programs of allowed commands are looked up; the system's when absent or empty. */
  readonly programPath?: () => readonly string[];
  /** Digest of the script that a package command ran in the workspace when the policy was loaded. */
  readonly scripts?: ShellPlace["scripts"];
};

/** The one tool that runs from its plan. What any other does with a command nobody knows. */
const SHELL = "shell";

/**
 * What requests mean beyond their text: one unit per simple command of a shell line, per file, per URL. What a person's yes depends on (a script's text, where a link leads)
 * is bound: when that changes after judging, the fingerprint differs and the old answer no longer counts.
 */
export function policyFacts(places: FactPlaces): Facts {
  const { look } = places;
  const finder = finderOf(places);
  const seenScripts: SeenScripts = new Map();
  return ({ tool, kind, input, cwd, locations }) => {
    const { command, url } = input;
    if (kind === "execute" && typeof command === "string") {
      const found = shellFacts({ command, input, cwd }, { places, seenScripts, findProgram: finder() });
      return tool === SHELL ? found : provingNothing(found);
    }
    if (locations && locations.length > 0)
      return pathFacts(
        locations.map(({ path }) => look(path, cwd)),
        { writes: MUTATOR_KINDS.includes(kind), input },
      );
    if (kind === "fetch" && typeof url === "string") return urlFacts(url);
    return { units: [{ subject: tool }], binds: {} };
  };
}

type Use = { readonly writes: boolean; readonly input: JsonObject };

function pathFacts(paths: readonly PathFact[], { writes, input }: Use): RequestFacts {
  const planned = paths.every(({ planFile }) => planFile) && paths.every((path) => fitsPlan(path, input));
  return {
    units: paths.map(pathUnit),
    binds: linkBinds(paths),
    insideWorkspace: paths.every((path) => path.inside && !(writes && path.writeHazards.length > 0)),
    ...(planned && { planFile: true }),
    view: { paths: paths.map(({ lexical, real, inside, sensitive, control }) => ({ lexical, real, inside, sensitive, control })) },
  };
}

const LONGEST_PLAN = 256 * 1024;

/** A whole new text counts by itself; any other text comes on top of what is there. */
function fitsPlan({ absolute }: PathFact, { content, ...rest }: JsonObject): boolean {
  if (typeof content === "string") return Buffer.byteLength(content) <= LONGEST_PLAN;
  const there = statSync(absolute, { throwIfNoEntry: false })?.size ?? 0;
  const texts = Object.values(rest).filter((value) => typeof value === "string");
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), there) <= LONGEST_PLAN;
}

function linkBinds(paths: readonly PathFact[]): Readonly<Record<string, string>> {
  const linked = paths.filter(({ absolute, real }) => real !== absolute);
  return Object.fromEntries(linked.map(({ absolute, real }) => [absolute, `leads to ${real ?? "nowhere one can look"}`]));
}

function urlFacts(url: string): RequestFacts {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : null;
  return { units: [hostUnit({ url, host })], binds: {}, view: { host } };
}

type ShellRequest = { readonly command: string; readonly input: JsonObject; readonly cwd: string };

type Surroundings = {
  readonly places: FactPlaces;
  readonly seenScripts: SeenScripts;
  readonly findProgram: ProgramFinder;
};

/** Made anew only when settings name other directories. */
function finderOf({ workspace, programPath }: FactPlaces): () => ProgramFinder {
  let path: readonly string[] | undefined;
  let finder: ProgramFinder | undefined;
  return () => {
    const given = programPath?.() ?? PROGRAM_PATH;
    if (!finder || given !== path) finder = programFinder({ path: given.length > 0 ? given : PROGRAM_PATH, workspace });
    path = given;
    return finder;
  };
}

/** The command of another tool is looked at so that rules about commands reach it; that it only reads is proven for the shell alone. */
function provingNothing(found: RequestFacts): RequestFacts {
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

function shellFacts({ command, input, cwd: from }: ShellRequest, { places, seenScripts, findProgram }: Surroundings): RequestFacts {
  const { workspace, look, home, scripts } = places;
  const cwd = typeof input["cwd"] === "string" ? look(input["cwd"], from).absolute : from;
  const linked: PathFact[] = [];
  const noting: PathScope = (path, directory) => {
    const fact = look(path, directory);
    if (fact.real !== fact.absolute) linked.push(fact);
    return fact;
  };
  const analysed = analyseShell(command, {
    ...{ cwd, workspace, look: noting, findProgram, home: homeDirectory(home) },
    ...(scripts && { scripts }),
  });
  const binds = shellBinds(analysed);
  const seen = scriptsSeen(binds, seenScripts);
  const { line, units, planned } = analysed;
  return {
    units,
    binds: { ...linkBinds(linked), ...binds },
    safe: line.readOnly,
    plan: planned,
    planDigest: line.plan.digest,
    view: shellView(line.plan, seen),
  };
}

/** Scripts by their names as written, and the text of package scripts. */
function shellBinds({ scripts, packageScripts }: Analysed): Readonly<Record<string, string>> {
  return Object.fromEntries([...scripts, ...packageScripts].map(({ file, digest }) => [file, digest]));
}

/** The digests of a script: the present one, and the one before it, if there was another. */
type SeenScripts = Map<string, { readonly digest: string; readonly before: string | undefined }>;

/** A script that changed since it was first looked at shows both digests. */
function scriptsSeen(binds: Readonly<Record<string, string>>, seenScripts: SeenScripts): readonly Json[] {
  return Object.entries(binds).map(([file, digest]) => {
    const known = seenScripts.get(file);
    const before = known?.digest === digest ? known.before : known?.digest;
    seenScripts.set(file, { digest, before });
    return { file, digest, ...(before !== undefined && { before }) };
  });
}

/** What whoever is asked should see besides the text. */
function shellView(plan: Plan, scripts: readonly Json[]): Json {
  const hazards = [...plan.hazards, ...plan.commands.flatMap((command) => command.hazards)].map(({ id, text }) => ({ id, text }));
  return {
    plan: { digest: plan.digest, shape: plan.shape, cwd: plan.cwd, commands: plan.commands.map(shownCommand) },
    ...(hazards.length > 0 && { hazards }),
    ...(scripts.length > 0 && { scripts }),
  };
}

function shownCommand({ argv, path, cwd }: Command): Json {
  return { argv: argv.map(({ text }) => text), path: [...path], cwd };
}
