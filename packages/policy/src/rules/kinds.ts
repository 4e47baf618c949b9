import type { PathUse, Request, Unit } from "@assent/core";
import { getHostFact, getPathFact, getShellUnit } from "../facts/units.ts";
import { offerAgentRule, readAgentRule } from "./agent.ts";
import { readDomainRule } from "./domain.ts";
import type { RuleFault } from "./fault.ts";
import { readPathRule } from "./path.ts";
import type { RuleOptions, RuleTest, RuleTool, WrittenRule } from "./rule.ts";
import { readShellRule } from "./shell.ts";

/** A kind of rule: what its parentheses mean, and for which tools. */
export type RuleKind = {
  readonly name: "shell" | "path" | "domain" | "agent";
  readonly read: (specifier: string, written: WrittenRule, options: RuleOptions) => RuleTest | RuleFault;
  /** The argument of an example if the tool declares none. */
  readonly usualArgument: string;
  readonly declaredBy?: (tool: RuleTool) => boolean;
  /** True if a unit is of this kind; absent: the tool name decides. */
  readonly isAbout?: (unit: Unit) => boolean;
  /** What "always" stores if the input alone decides; otherwise `grants.ts` decides by unit. */
  readonly offer?: (request: Request) => string;
  readonly groups: readonly ToolGroup[];
};

/** A rule name for several tools. */
export type ToolGroup = {
  readonly name: string;
  /** Case-insensitive. */
  readonly aliases?: readonly string[];
  /** Built-in tools; examples use the first. */
  readonly tools: readonly [string, ...string[]];
  readonly covers: (kind: string, tool: RuleTool | undefined) => boolean;
  /** Denies and asks also cover tools of other kinds that do this to files. An allow does not, because such a tool is known only by its description. */
  readonly uses?: readonly PathUse[];
};

/** All kinds of rules; the first that fits counts. */
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
        uses: ["read"],
      },
      {
        name: "Edit",
        aliases: ["Write"],
        tools: ["write", "edit", "ast_edit"],
        covers: (kind, tool) => (kind === "edit" || kind === "move" || kind === "delete") && tool !== undefined && hasPath(tool),
        uses: ["write", "remove"],
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
  return pathArgs !== undefined; // it reports locations, so its arguments may have any name
}
