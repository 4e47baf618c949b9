import type { Request, Unit } from "@assent/core";
import { getHostFact, getPathFact, getShellUnit } from "../facts/units.ts";
import { offerAgentRule, readAgentRule } from "./agent.ts";
import { readDomainRule } from "./domain.ts";
import type { RuleFault } from "./fault.ts";
import { readPathRule } from "./path.ts";
import type { RuleOptions, RuleTest, RuleTool, WrittenRule } from "./rule.ts";
import { readShellRule } from "./shell.ts";

/** What a rule may say in parentheses, and after which names. */
export type RuleKind = {
  readonly name: "shell" | "path" | "domain" | "agent";
  readonly read: (specifier: string, written: WrittenRule, options: RuleOptions) => RuleTest | RuleFault;
  /** The argument that an example stands for where a tool does not declare one. */
  readonly usualArgument: string;
  /** Whether a tool under any name takes such a thing; absent: none does. */
  readonly declaredBy?: (tool: RuleTool) => boolean;
  /** Whether this part of a request is such a thing; absent: the tool's name alone tells. */
  readonly isAbout?: (unit: Unit) => boolean;
  /** What an "always" stores for a request of its groups' tools, where the input alone tells; absent: what the part is about tells, in `offer-rules.ts`. */
  readonly offer?: (request: Request) => string;
  readonly groups: readonly ToolGroup[];
};

/** A name in rules that stands for several tools. */
export type ToolGroup = {
  /** Canonical: `Bash` and `Shell` are one group. */
  readonly name: string;
  /** Other names of it; case does not count. */
  readonly aliases?: readonly string[];
  /** Tools of ours, the first of which stands for the group in examples. */
  readonly tools: readonly [string, ...string[]];
  readonly covers: (kind: string, tool: RuleTool | undefined) => boolean;
};

/** Every kind of rule. Where something may be of several kinds, the first counts. */
export const RULE_KINDS: readonly RuleKind[] = [
  {
    name: "shell",
    read: readShellRule,
    usualArgument: "command",
    declaredBy: hasCommand,
    isAbout: (unit) => getShellUnit(unit) !== undefined,
    groups: [{ name: "Shell", aliases: ["Bash"], tools: ["shell"], covers: (_, tool) => tool !== undefined && hasCommand(tool) }],
  },
  {
    name: "path",
    read: (specifier, { verdict }, { roots }) => readPathRule(specifier, verdict, roots),
    usualArgument: "file_path",
    declaredBy: hasPath,
    isAbout: (unit) => getPathFact(unit) !== undefined,
    groups: [
      {
        name: "Read",
        tools: ["read", "list", "glob", "search", "ast_grep"],
        covers: (kind, tool) => (kind === "read" || kind === "search") && tool !== undefined && hasPath(tool),
      },
      {
        name: "Edit",
        aliases: ["Write"],
        tools: ["write", "edit", "ast_edit"],
        covers: (kind, tool) => (kind === "edit" || kind === "move" || kind === "delete") && tool !== undefined && hasPath(tool),
      },
    ],
  },
  {
    name: "domain",
    read: (specifier, { verdict }) => readDomainRule(specifier, verdict),
    usualArgument: "url",
    declaredBy: ({ urlArg }) => urlArg !== undefined,
    isAbout: (unit) => getHostFact(unit) !== undefined,
    groups: [{ name: "WebFetch", aliases: ["Fetch"], tools: ["fetch"], covers: (kind) => kind === "fetch" }],
  },
  {
    name: "agent",
    read: readAgentRule,
    usualArgument: "agent",
    offer: offerAgentRule,
    groups: [{ name: "Agent", tools: ["agent"], covers: () => false }],
  },
];

function hasCommand({ commandArg }: RuleTool): boolean {
  return commandArg !== undefined;
}

function hasPath({ pathArgs }: RuleTool): boolean {
  return pathArgs !== undefined; // it says where it goes, whatever its arguments are called
}
