import { editDistance, type RuleRef } from "@assent/core";
import type { Assessment } from "@assent/core/parts";
import type { LoadedPolicy, Rule, SettingsProblem } from "@assent/policy";
import { decisionSentence, rulePlace } from "../explain/decision-text.ts";
import { isInvalidCall, type JudgeParts, judgeCall } from "../explain/judge-call.ts";

type IdleReason = { readonly message: string; readonly hint: string };

/** Finds rules that can never match, and allow rules that can never allow, by judging the calls they were written for. */
export async function findIdleRules(
  loaded: LoadedPolicy,
  parts: JudgeParts & { readonly servers: readonly KnownServer[] },
  cwd: string,
): Promise<readonly SettingsProblem[]> {
  const judging = { ...parts, policy: { ...loaded.policy, mode: "default" } };
  const found: SettingsProblem[] = [];
  const isReported = ({ at }: Rule): boolean =>
    loaded.problems.some(({ file, line, column }) => file === at.file && line === at.line && column === at.column);
  for (const rule of loaded.rules) {
    const { at, verdict } = rule;
    const reason = isReported(rule)
      ? undefined
      : (describeMismatch(rule) ?? describeAbsentTool(rule, parts.servers) ?? (await describeIdleAllow(rule, judging, cwd)));
    if (reason) found.push(createProblem(at, `permissions.${verdict}`, reason));
  }
  for (const rule of loaded.network.filter((one) => !isReported(one))) {
    const reason = rule.concerns("shell", "execute") ? describeLimit(rule, await judgeSamples(rule, judging, cwd)) : NO_COMMAND;
    if (reason) found.push(createProblem(rule.at, "confined.network", reason));
  }
  return found;
}

function createProblem(at: RuleRef, key: string, { message, hint }: IdleReason): SettingsProblem {
  const { text, file = "", line = 0, column = 0 } = at;
  return { type: "rule_never_applies", file, line, column, key, message: `${text}: ${message}`, hint, effect: "warning", kept: true };
}

/** `.apply` and MCP tools are known only later. */
function describeMismatch({ contradiction, example, at }: Rule): IdleReason | undefined {
  if (contradiction !== undefined) return { message: `it never matches: ${contradiction}`, hint: "Keep one of the two conditions." };
  const [name = ""] = at.text.trim().split(/[(:]/);
  if (example || /^mcp__|\.apply$/.test(name)) return undefined;
  return { message: "it never matches: no tool has such a name", hint: "assent tools lists the names of all tools." };
}

/** A server that is configured here, and the tools that it had when it last ran, with their arguments. */
export type KnownServer = {
  readonly name: string;
  readonly tools?: readonly { readonly name: string; readonly args?: readonly string[] }[];
};

/** A rule about a tool or an argument that its server did not have when it last ran. A rule about another server may be meant for another project. */
function describeAbsentTool({ at, concerns }: Rule, servers: readonly KnownServer[]): IdleReason | undefined {
  const [, server = "", tool, argument] = /^mcp__(.+?)(?:__(.+?))?(?:[(:](?:(\w+)=)?.*)?$/i.exec(at.text.trim()) ?? [];
  const known = servers.find(({ name }) => name === server);
  if (!known) return describeMisspelledServer(server, servers);
  if (tool === undefined || !known.tools) return undefined;
  const hint = `assent mcp test ${server} lists its tools.`;
  const covered = known.tools.filter(({ name }) => concerns(name, "other"));
  if (covered.length === 0)
    return {
      message: `it never matches: the MCP server ${server} had no such tool when it last ran`,
      hint: `${hint}${didYouMean(nearest(at.text, known.tools))}`,
    };
  if (argument === undefined || covered.some(({ args }) => !args || args.includes(argument))) return undefined;
  const args = covered.flatMap((one) => one.args ?? []);
  return {
    message: `it never matches: the tool had no argument ${argument} when its server last ran`,
    hint: args.length === 0 ? "The tool has no arguments." : `Its arguments: ${args.join(", ")}.`,
  };
}

function describeMisspelledServer(server: string, servers: readonly KnownServer[]): IdleReason | undefined {
  const near = nearest(server, servers);
  if (near === undefined || near.toLowerCase() === server.toLowerCase() || distance(near, server) > 1) return undefined;
  return { message: `it never matches here: no MCP server is called ${server}`, hint: `assent mcp list shows them.${didYouMean(near)}` };
}

function nearest(text: string, things: readonly { readonly name: string }[]): string | undefined {
  return things.map(({ name }) => name).toSorted((one, other) => distance(one, text) - distance(other, text))[0];
}

function didYouMean(name: string | undefined): string {
  return name === undefined ? "" : ` Did you mean ${name}?`;
}

function distance(name: string, rule: string): number {
  return editDistance(name.toLowerCase(), rule.trim().toLowerCase().slice(0, 64), 64);
}

/** Fields that a tool needs besides the one that its rules are about. */
const OTHER_FIELDS: Readonly<Record<string, object>> = { write: { content: "" } };

async function describeIdleAllow(rule: Rule, judging: JudgeParts, cwd: string): Promise<IdleReason | undefined> {
  if (rule.verdict !== "allow") return undefined;
  const judged = await judgeSamples(rule, judging, cwd);
  return describeOutvoted(judged) ?? describeLimit(rule, judged);
}

/** Judges the sample calls of a rule; empty if it has none, or one is invalid. */
async function judgeSamples({ example, samples = [] }: Rule, judging: JudgeParts, cwd: string): Promise<readonly Assessment[]> {
  if (example?.argument === undefined) return [];
  const judged: Assessment[] = [];
  for (const sample of samples) {
    const input = { ...OTHER_FIELDS[example.tool], [example.argument]: sample };
    const one = await judgeCall(judging, { tool: example.tool, input, cwd });
    if (isInvalidCall(one)) return [];
    judged.push(one);
  }
  return judged;
}

const NO_COMMAND: IdleReason = {
  message: "it never matches, because only commands run confined",
  hint: "Write a rule about a command: Shell(npm ci)",
};

/** A rule or safeguard that is stricter about every sample. */
function describeOutvoted(judged: readonly Assessment[]): IdleReason | undefined {
  const [first] = judged;
  const isStricter = ({ decision }: Assessment): boolean => decision.verdict === "deny" || decision.explicitAsk;
  if (!first || !judged.every(isStricter)) return undefined;
  const { decision } = first;
  const { rule, reason, verdict } = decision;
  if (rule && reason === "checker") {
    const message = `it never ${verdict === "deny" ? "applies" : "allows"}: ${rule.text} (${rulePlace(rule)}) ${verdict === "deny" ? "denies" : "asks about"} all of it`;
    return { message, hint: "Remove this rule, or narrow that one." };
  }
  return { message: `it never allows: ${decisionSentence({ ...decision, rule: rule ?? null })}`, hint: NEVER_ALLOWED };
}

const NEVER_ALLOWED = "Remove it: such calls ask each time (docs/rules.md lists what no rule can allow).";

function describeLimit(rule: Rule, judged: readonly Assessment[]): IdleReason | undefined {
  if (judged.length === 0) return undefined;
  const limits = judged.map(({ request }) => request.units.flatMap((unit) => rule.whyNot?.(unit) ?? []));
  const lasting = limits.map((some) => some.find((limit) => limit.lasting));
  const [first] = lasting;
  if (first && lasting.every(Boolean)) return { message: `it never allows: ${first.why}`, hint: hintFor(rule, first.why) };
  const matches = judged.some(({ request }) => request.units.some((unit) => rule.test(request, unit) === "yes"));
  if (matches || limits.some((some) => some.length > 0) || !judged.every(({ request }) => request.kind === "execute")) return undefined;
  const [option] = /--(?:no-pager|no-optional-locks|literal-pathspecs|no-replace-objects)/.exec(rule.at.text) ?? [];
  const without = option ?? "variables before its name";
  return { message: `it never matches: Assent compares a command without ${without}`, hint: PLAIN_WORDS };
}

const PLAIN_WORDS = "Write only the command's own words: Shell(npm test), Shell(git log).";

function hintFor({ at }: Rule, why: string): string {
  if (/which the rule does not name|names none|name the program/.test(why))
    return "Name the command that it runs, too: Shell(timeout 60 npm test *)";
  if (/comes before the subcommand/.test(why)) return "Start with the subcommand: Shell(git status)";
  if (/absolute path|is a path/.test(why)) return `Write the absolute path, or the name of an installed program, instead of ${at.text}`;
  return NEVER_ALLOWED;
}
