import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { PathFact, PathScope } from "../path-scope.ts";
import { isInside } from "../resolve-path.ts";
import type { Modelled } from "./command-table.ts";
import { repositoryHazards } from "./git-repository.ts";
import { mayLeadOutside } from "./linked-outside.ts";
import { modelOf } from "./modelled-programs.ts";
import { isOpaque } from "./opaque-programs.ts";
import type { CommandClass, Hazard, Operand } from "./plan.ts";
import { changesShell } from "./shell-builtins.ts";
import { versionModel } from "./tables/versions.ts";

/** What is known about one literal command. */
export type Classified = {
  readonly class: CommandClass;
  readonly operands: readonly Operand[];
  readonly hazards: readonly Hazard[];
  /** The command as an allow rule compares it. */
  readonly words: readonly string[];
  /** A table describes the program: its words are understood one by one. */
  readonly tabled: boolean;
};

/** Where the command would run. */
export type ClassifyPlace = { readonly cwd: string; readonly workspace: string; readonly look: PathScope };

/** Tells what a literal command may do, by the table of its program, and where its files lead. It looks at a path only where one is named. */
export function classify(argv: readonly string[], place: ClassifyPlace): Classified {
  const [name = "", ...args] = argv;
  const strange = nameHazards(argv);
  if (strange.length > 0) return untabled(argv, strange);
  const modelled = versionModel(name, args) ?? modelOf(name)?.(args);
  return modelled ? settled(argv, modelled, place) : untabled(argv, []);
}

function nameHazards(argv: readonly string[]): readonly Hazard[] {
  const [name = ""] = argv;
  if (name.includes("/")) return [{ id: "path_program", text: `${name} is a program by its path` }];
  if (name === "" || changesShell(argv.map((text) => ({ text }))))
    return [{ id: "state_builtin", text: `${name || "an empty name"} evaluates words or changes the shell` }];
  return [];
}

function untabled(argv: readonly string[], hazards: readonly Hazard[]): Classified {
  const opaque = isOpaque(argv);
  const all: readonly Hazard[] = opaque ? [...hazards, { id: "opaque_program", text: `${argv[0]} runs what no table describes` }] : hazards;
  return { class: opaque ? "opaque" : "unknown", operands: [], hazards: all, words: argv, tabled: false };
}

/** The model with its files looked at. */
function settled(argv: readonly string[], modelled: Modelled, place: ClassifyPlace): Classified {
  const hazards: Hazard[] = [...modelled.hazards];
  const operands: Operand[] = [];
  const existing = modelled.perhaps.filter((word) => exists(word, place.cwd));
  for (const path of [...modelled.reads, ...existing]) if (path !== "-" && path !== "/dev/null") add(path, "read");
  for (const path of modelled.writes) if (path !== "-") add(path, "write");
  if (modelled.repository) hazards.push(...repositoryHazards(place));
  return { class: modelled.class, operands, hazards, words: modelled.words ?? argv, tabled: true };

  function add(path: string, use: "read" | "write"): void {
    const fact = place.look(path, place.cwd);
    operands.push({ path: fact.absolute, real: fact.real, use });
    hazards.push(...hazardsOf(path, fact, place));
    if (modelled.follows && fact.inside && mayLeadOutside(fact.absolute, place.look))
      hazards.push({ id: "outside_workspace", text: `links below ${path} may lead outside the workspace` });
  }
}

/** A word that climbs is a path whether it leads somewhere or not. */
function exists(path: string, cwd: string): boolean {
  if (/^\/|^\.\.(?:\/|$)/.test(path)) return true;
  try {
    return lstatSync(resolve(cwd, path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // nobody can tell: it is looked at as a path
  }
}

/** Outside by either spelling, sensitive, or strange in itself. */
function hazardsOf(path: string, fact: PathFact, { workspace }: ClassifyPlace): readonly Hazard[] {
  const hazards: Hazard[] = [...otherShell(path), ...fact.hazards];
  const { absolute, real, inside, ownOutput, sensitive } = fact;
  const outside = !inside || (absolute !== real && !isInside(workspace, absolute));
  if (path === "") hazards.push({ id: "path_unresolved", text: "an empty path" });
  if (outside && !ownOutput) hazards.push({ id: "outside_workspace", text: `${path} is not inside the workspace` });
  if (sensitive) hazards.push({ id: "sensitive_file", text: `${path} may hold secrets` });
  return hazards;
}

const FOR_OTHER_SHELL = /^[~=]|%[A-Za-z_]{3,}%|@\(|\^$|\\/;

function otherShell(word: string): readonly Hazard[] {
  return FOR_OTHER_SHELL.test(word) ? [{ id: "other_shell", text: `another shell would expand ${word}` }] : [];
}
