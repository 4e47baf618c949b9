import type { Unit } from "@assent/core";
import { contentDigest } from "../../facts/digest.ts";
import { createShellUnit } from "../../facts/units.ts";
import type { PathLookup } from "../../paths/lookup.ts";
import { findPackageScript } from "../effects/package-scripts.ts";
import { findScriptBinds, type ScriptBind } from "../effects/script-binds.ts";
import { findStrayWords, type StrayWord } from "../effects/stray-words.ts";
import { findTouchedPaths } from "../effects/touched-paths.ts";
import { matchReaders } from "../read/agree.ts";
import { characterHazards } from "../read/characters.ts";
import { LONGEST_COMMAND, readPlain } from "../read/strict-reader.ts";
import type { SeenCommand, WalkResult } from "../walk/seen-command.ts";
import { walkBash } from "../walk/walk.ts";
import { outsideShellHazards, withoutOwnProof } from "./outside-shell.ts";
import { placeCommands } from "./place-commands.ts";
import { type Command, type Hazard, makePlan } from "./plan.ts";
import { planCommands } from "./plan-commands.ts";
import { markPlannedLine, type PlannedLine } from "./planned-line.ts";
import { joinHazards, type PlacedCommand, type ReadCommand, readCommands, type ShellPlace, uniqueHazards } from "./read-commands.ts";
import type { ShellLine, ShellUnit } from "./shell-unit.ts";

/** A parsed line: what rules judge, and what runs. */
export type AnalyzedLine = {
  readonly line: ShellLine;
  readonly units: readonly Unit[];
  readonly planned: PlannedLine;
  readonly scripts: readonly ScriptBind[];
  readonly packageScripts: readonly ScriptBind[];
  /** Words that patterns of the line expand to. */
  readonly patterns: readonly ScriptBind[];
};

/** Parses a shell line with both readers and looks at the files it names. Starts nothing. */
export function analyzeShell(text: string, given: ShellPlace): AnalyzedLine {
  const reading = readPlain(text);
  const flaw = "refused" in reading ? findFlaw(text) : undefined; // the strict reader accepts no such text
  if (flaw) return analyzeUnread(text, given, flaw);
  const place: ShellPlace = { ...given, look: lookOnce(given.look), findProgram: remember(given.findProgram) };
  const walk = walkBash(text, "commands" in reading);
  const top = "commands" in reading ? matchReaders(reading.commands, walk) : undefined;
  const plain = top && "commands" in reading ? placeCommands(reading.commands, place) : undefined;
  const around = joinHazards(characterHazards(text), joinHazards(walk.hazards, outsideHazards(place)));
  const hazards = joinHazards(around, refusalHazards(reading, { walk, top, plain }));
  const found = addScripts(readCommands(walk, { top, plain, place }), place);
  const findings = { place, look: given.look, walk, plain };
  if (!place.outside) return concludeLine(text, { ...findings, hazards, read: found });
  const read = found.map(withoutOwnProof);
  const added = outsideShellHazards(place.outside, { plain, read }, place);
  return concludeLine(text, { ...findings, hazards: joinHazards(hazards, added), read });
}

/** Within one line the same name means the same file. */
function lookOnce(look: PathLookup): PathLookup {
  const inDirectory = remember((cwd) => remember((path) => look(path, cwd)));
  return (path, cwd) => inDirectory(cwd)(path);
}

function remember<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, { readonly found: T }>();
  return (name) => {
    const { found } = known.get(name) ?? { found: find(name) };
    known.set(name, { found });
    return found;
  };
}

type TextFlaw = Pick<ShellLine, "malformed" | "tooLong">;

function findFlaw(text: string): TextFlaw | undefined {
  if (text.trim() === "" || text.includes("\0") || !text.isWellFormed()) return { malformed: true, tooLong: false };
  return text.length > LONGEST_COMMAND ? { malformed: false, tooLong: true } : undefined;
}

function outsideHazards({ cwd, workspace, look }: ShellPlace): readonly Hazard[] {
  return cwd === workspace || look(".", cwd).inside
    ? NO_HAZARDS
    : [{ id: "outside_workspace", text: `The working directory ${cwd} is outside the workspace` }];
}

type LineReadings = {
  readonly walk: WalkResult;
  readonly top: readonly SeenCommand[] | undefined;
  readonly plain: readonly PlacedCommand[] | undefined;
};

function refusalHazards(reading: ReturnType<typeof readPlain>, { walk, top, plain }: LineReadings): readonly Hazard[] {
  if ("refused" in reading) {
    const said = walk.commands.some(({ hazards }) => hazards.some(({ id }) => id === reading.refused.id));
    return said || walk.hazards.some(({ id }) => id === reading.refused.id) ? [] : [reading.refused];
  }
  if (!top) return [{ id: "unmodelled_construct", text: "Assent's two shell parsers read this differently" }];
  return plain?.some(({ refused }) => refused) ? plain.flatMap(({ refused }) => refused ?? []) : NO_HAZARDS;
}

const NO_HAZARDS: readonly Hazard[] = [];

type LineFindings = {
  readonly place: ShellPlace;
  /** Looks at the files again; the lookup of `place` remembers. */
  readonly look: PathLookup;
  readonly walk: WalkResult;
  readonly hazards: readonly Hazard[];
  readonly read: readonly ScriptedCommand[];
  readonly plain: readonly PlacedCommand[] | undefined;
};

type ScriptedCommand = ReadCommand & Pick<ShellUnit, "script">;

/** Adds package scripts; one that changed since the policy was loaded is a hazard. */
function addScripts(read: readonly ReadCommand[], place: ShellPlace): readonly ScriptedCommand[] {
  return read.map((one) => {
    const { command, classified } = one;
    const words = classified?.words ?? NO_WORDS;
    const found = command.cwd === null ? undefined : findPackageScript(words, { cwd: command.cwd, workspace: place.workspace });
    if (!found) return one;
    const script = { text: found.text, digest: contentDigest(found.text) };
    const isOwn = found.directory === undefined || found.directory === place.workspace;
    if (!isOwn || !place.scripts) return { ...one, script };
    const known = place.scripts(words);
    if (known === script.digest) return { ...one, script };
    return { ...one, script, command: { ...command, hazards: [...command.hazards, changedScript(words, known)] } };
  });
}

function changedScript(words: readonly string[], known: string | undefined): Hazard {
  const line = words.join(" ");
  const text =
    known === undefined
      ? `There was no script for ${line} in package.json when the policy was loaded`
      : `The script of ${line} has changed since the policy was loaded`;
  return { id: "script_changed", text };
}

function concludeLine(text: string, { place, look, walk, hazards, read, plain }: LineFindings): AnalyzedLine {
  const commands = read.map(({ command }) => command);
  const modelled = plain !== undefined && !plain.some(({ refused }) => refused);
  const shape = !modelled ? "text" : plain.length === 1 ? "argv" : "list";
  const plan = makePlan({
    cwd: place.cwd,
    shape,
    modelled,
    commands,
    hazards: uniqueHazards(joinHazards(hazards, fedPrograms(read, plain))),
  });
  const readOnly =
    modelled && plan.hazards.length === 0 && commands.every((command) => command.class === "read" && command.hazards.length === 0);
  const line: ShellLine = {
    text,
    plan,
    seen: read.map(({ seen }) => seen),
    malformed: false,
    tooLong: false,
    limited: walk.limited,
    parsed: walk.parsed,
    readOnly,
  };
  const runs = modelled ? planCommands(plain, read, { place, look }) : undefined;
  const units = read.length === 0 ? [{ line, index: 0, words: [] }] : read.map((one, index) => makeUnit(one, line, index, place));
  return {
    line,
    units: units.map((unit) => createShellUnit(subjectOf(unit), unit)),
    planned: markPlannedLine(runs ? { plan, readOnly, commands: runs } : { plan, readOnly }),
    scripts: findScriptBinds(units, place),
    packageScripts: units.some(({ script }) => script) ? units.flatMap(packageBind) : NO_SCRIPTS,
    patterns: (plain ?? NO_PLACED).flatMap(patternBind),
  };
}

const NO_SCRIPTS: readonly ScriptBind[] = [];
const NO_PLACED: readonly PlacedCommand[] = [];

/** If other files match before the line starts, it is judged again. */
function patternBind({ command: { words }, argv, patterns }: PlacedCommand): readonly ScriptBind[] {
  if (!patterns) return NO_SCRIPTS;
  const written = words.flatMap(({ text, glob }) => (glob ? [text] : []));
  return [{ file: `the files that ${written.join(" ")} matches`, digest: contentDigest(JSON.stringify(argv)) }];
}

function packageBind({ script, words }: ShellUnit): readonly ScriptBind[] {
  return script ? [{ file: `the script of ${words.join(" ")}`, digest: script.digest }] : NO_SCRIPTS;
}

/** A rule that lists all words does not cover code that comes from a pipe. */
function fedPrograms(read: readonly ReadCommand[], plain: readonly PlacedCommand[] | undefined): readonly Hazard[] {
  const isFed = ({ command, seen }: ReadCommand): boolean =>
    command.class === "opaque" && seen.top !== undefined && plain?.[seen.top]?.command.join === "|";
  if (!read.some(isFed)) return NO_HAZARDS;
  return read
    .filter(isFed)
    .map(({ command }) => ({ id: "pipe_to_shell", text: `${command.argv[0]?.text} gets its instructions from a pipe` }));
}

const NO_WORDS: readonly string[] = [];

function makeUnit({ command, seen, classified, script }: ScriptedCommand, line: ShellLine, index: number, place: ShellPlace): ShellUnit {
  const words = classified?.words ?? NO_WORDS;
  const touched = findTouchedPaths({ line, index, command, seen, words }, place);
  const unit = {
    line,
    index,
    command,
    seen,
    words,
    touched,
    ...(isDescribed(command) ? {} : { strays: findStrays(words, command, place) }),
  };
  return script ? { ...unit, script } : unit;
}

/** The program table describes what it does and which files it names. */
function isDescribed({ class: known, hazards }: Command): boolean {
  return (known === "read" || known === "write") && hazards.length === 0;
}

function findStrays(words: readonly string[], { cwd }: Command, { workspace, look, cwd: from }: ShellPlace): readonly StrayWord[] {
  return findStrayWords(words, { workspace, look, cwd: cwd ?? from });
}

function subjectOf({ line, command }: ShellUnit): string {
  if (!command) return line.text.slice(0, 200);
  return command.argv.reduce((subject, { text }, i) => (i === 0 ? text : `${subject} ${text}`), "");
}

function analyzeUnread(text: string, { cwd }: ShellPlace, { malformed, tooLong }: TextFlaw): AnalyzedLine {
  const hazard: Hazard = tooLong
    ? { id: "too_long", text: `The command has ${text.length} characters; Assent reads at most ${LONGEST_COMMAND}` }
    : { id: "unparsed", text: "There is no command: the text is empty, or contains characters that no shell accepts" };
  const plan = makePlan({ cwd, shape: "text", modelled: false, commands: [], hazards: [hazard] }, text);
  const line: ShellLine = { text, plan, seen: [], malformed, tooLong, limited: false, parsed: false, readOnly: false };
  const unit: ShellUnit = { line, index: 0, words: [] };
  return {
    line,
    units: [createShellUnit(subjectOf(unit), unit)],
    planned: markPlannedLine({ plan, readOnly: false }),
    scripts: [],
    packageScripts: [],
    patterns: [],
  };
}
