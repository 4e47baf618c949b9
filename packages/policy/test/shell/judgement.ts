import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Request, Safeguard, Unit, Verdict } from "@assent/core";
import { getShellUnit } from "../../src/facts/units.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { isFault } from "../../src/rules/fault.ts";
import { parseRule } from "../../src/rules/parse.ts";
import type { Rule } from "../../src/rules/rule.ts";
import type { OwnFiles } from "../../src/safeguards/own-files.ts";
import { createSafeguards } from "../../src/safeguards/safeguards.ts";
import { type AnalyzedLine, analyzeShell } from "../../src/shell/plan/analyze.ts";
import type { Hazard, PlanWord } from "../../src/shell/plan/plan.ts";
import { readPlannedLine } from "../../src/shell/plan/planned-line.ts";
import type { ShellUnit, TouchedPath } from "../../src/shell/plan/shell-unit.ts";

/** The files around the judged lines: a text, or `-> target` for a link; a name that ends in a slash is a directory. */
const FILES: Readonly<Record<string, string>> = {
  "w/.git/HEAD": "ref: refs/heads/main\n",
  "w/.git/config": "[core]\n",
  "w/.git/hooks/": "",
  "w/.git/objects/": "",
  "w/.git/refs/": "",
  "w/.env": "A=1\n",
  "w/README.md": "# x\n",
  "w/package.json": '{"scripts":{"test":"node --test","lint":"biome check"}}\n',
  "w/a.txt": "a\n",
  "w/build.sh": "echo\n",
  "w/src/a.ts": "a\n",
  "w/src/b.ts": "b\n",
  "w/src/deep/c.ts": "c\n",
  "w/src/hooks": "-> ../.git/hooks",
  "w/out": "-> ../h",
  "h/.local/state/assent/ledger": "",
  "h/.config/assent/settings.json": "{}\n",
};

/** Rules that every line is held against. */
const RULES: readonly (readonly [verdict: Verdict, text: string])[] = [
  ["deny", "Shell(curl)"],
  ["deny", "Shell(rm -rf)"],
  ["deny", "Shell(git push --force)"],
  ["deny", "Shell(git * main)"],
  ["deny", "Shell(docker run -v /:/host)"],
  ["deny", "Shell(*sh -c)"],
  ["allow", "Shell(git *)"],
  ["allow", "Shell(ls *)"],
  ["allow", "Shell(npm test)"],
  ["allow", "Shell(make lint)"],
  ["allow", "Shell(touch src/*)"],
];

/** Judges a line in the sample place, and tells in short lines all that was found out. */
export type Judge = (text: string) => readonly string[];

/** Makes the sample place in a directory: the workspace `/w` and the home `/h`. */
export function furnish(root: string): void {
  for (const [name, text] of Object.entries(FILES)) put(join(root, name), text);
}

/** Judges lines in a directory that was furnished. */
export function judgeIn(root: string): Judge {
  const [workspace, home] = [join(root, "w"), join(root, "h")];
  const options = { tools: { get: () => SHELL, names: () => ["shell"] }, roots: { settingsRoot: workspace, workspace, home } };
  const rules = RULES.map(([verdict, text]): Rule => {
    const rule = parseRule({ verdict, at: { text } }, options);
    if (isFault(rule)) throw new Error(rule.message);
    return rule;
  });
  const own: OwnFiles = {
    stateDirectory: join(home, ".local/state/assent"),
    settingsFiles: [join(home, ".config/assent/settings.json")],
    workspace,
    home,
  };
  const held: Held = { safeguards: createSafeguards({ own, rules }), rules };
  const look = createPathLookup({ workspace, home });
  const spelled = new RegExp(root.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  return (text) => {
    const analysed = analyzeShell(text, { cwd: workspace, workspace, home, look, findProgram: () => undefined });
    return told(text, analysed, held).map((line) => line.replaceAll(spelled, "").replaceAll("\n", "⏎"));
  };
}

const SHELL = { kind: "execute", commandArg: "command" } as const;

function put(path: string, text: string): void {
  mkdirSync(path.endsWith("/") ? path : dirname(path), { recursive: true });
  if (text.startsWith("-> ")) symlinkSync(text.slice(3), path);
  else if (!path.endsWith("/")) writeFileSync(path, text);
}

type Held = { readonly safeguards: readonly Safeguard[]; readonly rules: readonly Rule[] };

function told(text: string, { line, units, planned, scripts }: AnalyzedLine, held: Held): readonly string[] {
  const { plan } = line;
  const request: Request = { tool: "shell", toolDigest: "", kind: "execute", input: { command: text }, cwd: plan.cwd, binds: {}, units };
  const whole = parts([
    plan.shape,
    !line.parsed && "unparsed",
    line.limited && "limited",
    line.malformed && "malformed",
    line.readOnly && "only reads",
    readPlannedLine(planned)?.commands && "runs as planned",
    ...plan.hazards.map(hazardOf),
    scripts.length > 0 && `bound to ${scripts.map(({ file }) => file).join(" ")}`,
  ]);
  return [whole, ...units.flatMap((unit) => toldOf(unit, request, held))];
}

function toldOf(unit: Unit, request: Request, { safeguards, rules }: Held): readonly string[] {
  const shell = getShellUnit(unit);
  if (!shell) return ["no unit of a shell line"];
  const stated = safeguards.flatMap(({ id, check }) => {
    const { verdict } = check(request, unit);
    return verdict === "none" ? [] : [`${verdict} by ${id}`];
  });
  const held = rules.flatMap((rule) => {
    const answer = rule.test(request, unit);
    return answer === "no" ? [] : [`${answer} to ${rule.verdict} ${rule.at.text}`];
  });
  return [
    commandOf(shell),
    ...(shell.touched ?? []).map(touchOf),
    ...[parts([...stated, ...held])].filter(Boolean).map((one) => `  ${one}`),
  ];
}

function commandOf({ command, seen, words, script }: ShellUnit): string {
  if (!command || !seen) return "- no command";
  const { argv, path, cwd, assignments, redirections, operands, hazards } = command;
  const { top, join: joined, inside, movedTo, doubts, openEnd } = seen;
  const compared = argv.map(({ text }) => text).join(" ");
  return parts([
    `- ${[...assignments.map(({ name, dynamic }) => wordOf({ text: `${name}=`, dynamic })), ...argv.map(wordOf)].join(" ")}${openEnd ? " …" : ""}`,
    ...redirections.map(({ fd, op, target, dynamic }) => `${fd}${op} ${wordOf({ text: target, dynamic })}`),
    path.length > 0 && `under ${path.join(" ")}`,
    top !== undefined && `top ${top} ${joined}`,
    inside !== undefined && `inside ${inside}`,
    movedTo && `moved to ${wordOf(movedTo)}`,
    `in ${cwd ?? "?"}`,
    command.class,
    ...operands.map(({ path: at, real, use }) => `${use}s ${at}${real === at ? "" : ` -> ${real}`}`),
    words.length > 0 && words.join(" ") !== compared && `compared as ${words.join(" ")}`,
    script && `runs ${JSON.stringify(script.text)}`,
    ...hazards.map(hazardOf),
    ...doubts.map((doubt) => `? ${doubt}`),
  ]);
}

function touchOf({ path, use, reach, fate, places, open, certain, lost }: TouchedPath): string {
  return `  ${parts([
    `${use}s ${path}`,
    `${reach} ${fate}`,
    places.join(" "),
    open &&
      `open ${[open.start, ...open.names].join(" ")}${open.dotless ? " dotless" : ""}${open.there ? ` of ${open.there.toSorted().join(" ")}` : ""}`,
    !certain && "uncertain",
    lost && "lost",
  ])}`;
}

function wordOf({ text, dynamic }: PlanWord): string {
  const plain = /^[\w./:=@%+,~-]+$/u.test(text) ? text : JSON.stringify(text);
  return dynamic ? `<${text}>` : plain;
}

function hazardOf({ id, text, at }: Hazard): string {
  return `! ${id}${at ? ` ${at.join("-")}` : ""} ${text}`;
}

function parts(all: readonly (string | false | undefined)[]): string {
  return all.filter((one) => one !== false && one !== undefined && one !== "").join(" · ");
}
