import {
  canonicalJson,
  type Digest,
  type Guard,
  type JsonObject,
  makeChecker,
  type NamedChecker,
  type PolicySource,
  type Registry,
  type RuleRef,
  type Rules,
  type ToolShape,
} from "@assent/core";
import type { CallFlags } from "./call-flags.ts";
import { CommandError } from "./failure.ts";

/** Reads the rules of the flags before anything starts: a deny or ask that does not parse guards nothing, so nobody may go on; an allow is left out with a warning. */
export function checkRules(flags: CallFlags): readonly string[] {
  try {
    return flagChecker(flags, () => undefined).warnings.map(({ message }) => message);
  } catch (error) {
    throw new CommandError("rule_syntax", 2, {
      message: `A rule cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
}

/** What a policy is made of besides the flags. */
export type PolicyParts = { readonly tools: Registry; readonly guards: readonly Guard[]; readonly digest: Digest };

/** The policy of one run: what the flags say, and the guards. Nothing changes it while the run lasts. */
export function callPolicy(flags: CallFlags, { tools, guards, digest }: PolicyParts): PolicySource {
  const { checker } = flagChecker(flags, (name) => toolShape(tools, name));
  const policy = { revision: policyRevision(flags, digest), mode: flags.mode, checkers: [checker], guards, honourReadOnlyHint: true };
  return { current: () => policy, subscribe: () => () => undefined };
}

/** Names what a session is judged by; another mode or rule is another revision. */
export function policyRevision({ mode, allow, ask, deny }: CallFlags, digest: Digest): string {
  return digest.sha256(canonicalJson({ mode, allow, ask, deny }));
}

function flagChecker({ allow, ask, deny }: CallFlags, tools: (name: string) => ToolShape | undefined): ReturnType<typeof makeChecker> {
  const from = (name: string, rules: readonly string[]): RuleRef[] => rules.map((text) => ({ text, source: `--${name}` }));
  return makeChecker({
    label: "session permissions",
    scope: "session",
    allow: from("allow", allow),
    ask: from("ask", ask),
    deny: from("deny", deny),
    tools,
  });
}

/** Remembered answers, read as narrowly as an allow rule: what a shell could read differently is neither covered nor offered. */
export function grantRules(tools: Registry): Rules {
  const covering = (text: string): NamedChecker => {
    const { checker, warnings } = makeChecker({ label: "grant", scope: "session", allow: [text], tools: (name) => toolShape(tools, name) });
    if (warnings[0]) throw new Error(warnings[0].message);
    return checker;
  };
  return {
    parse: (text) => {
      const checker = covering(text);
      return { text, covers: (request, unit) => checker.check(request, unit).verdict === "allow" };
    },
    offer: (request) => {
      const argument = toolShape(tools, request.tool)?.commandArg ?? pathArgument(request.input);
      if (argument === undefined) return [request.tool];
      const rule = `${request.tool}:${argument}=${literal(String(request.input[argument]))}`;
      const covers = (): boolean => request.units.every((unit) => covering(rule).check(request, unit).verdict === "allow");
      return isRule(covers) ? [rule] : [];
    },
  };
}

/** A file tool is remembered for the file it named, never for every file. */
function pathArgument(input: JsonObject): string | undefined {
  return typeof input["file_path"] === "string" ? "file_path" : undefined;
}

function literal(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, "\\$&");
}

function isRule(covers: () => boolean): boolean {
  try {
    return covers();
  } catch (_noRule) {
    return false;
  }
}

/** What rules must know about a tool's input: its other spellings, and which argument is a command. */
function toolShape(tools: Registry, name: string): ToolShape | undefined {
  const tool = tools.get(name);
  if (!tool) return undefined;
  const { inputAliases } = tool.definition;
  return { ...(inputAliases && { aliases: inputAliases }), ...(tool.kind === "execute" && { commandArg: "command" }) };
}
