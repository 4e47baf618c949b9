import type { RuleTool, RuleTools } from "./rule.ts";

/** What may stand in parentheses. */
export type SpecifierKind = "shell" | "path" | "domain" | "agent";

/** A name in rules that stands for several tools. */
export type ToolGroup = {
  /** Canonical: `Bash` and `Shell` are one group. */
  readonly name: string;
  readonly specifier: SpecifierKind;
  /** Tools of ours, the first of which stands for the group in examples. */
  readonly tools: readonly [string, ...string[]];
  readonly covers: (kind: string, tool: RuleTool | undefined) => boolean;
};

const SHELL: ToolGroup = {
  name: "Shell",
  specifier: "shell",
  tools: ["shell"],
  covers: (_, tool) => tool?.commandArg !== undefined,
};
const READ: ToolGroup = {
  name: "Read",
  specifier: "path",
  tools: ["read", "list", "glob", "search", "ast_grep"],
  covers: (kind, tool) => (kind === "read" || kind === "search") && hasPath(tool),
};
const EDIT: ToolGroup = {
  name: "Edit",
  specifier: "path",
  tools: ["write", "edit", "ast_edit"],
  covers: (kind, tool) => (kind === "edit" || kind === "move" || kind === "delete") && hasPath(tool),
};
const FETCH: ToolGroup = { name: "WebFetch", specifier: "domain", tools: ["fetch"], covers: (kind) => kind === "fetch" };
const AGENT: ToolGroup = { name: "Agent", specifier: "agent", tools: ["agent"], covers: () => false };

const GROUPS: ReadonlyMap<string, ToolGroup> = new Map([
  ["shell", SHELL],
  ["bash", SHELL],
  ["read", READ],
  ["edit", EDIT],
  ["write", EDIT],
  ["webfetch", FETCH],
  ["fetch", FETCH],
  ["agent", AGENT],
]);

/** The group of a name, whatever its case. */
export function groupNamed(name: string): ToolGroup | undefined {
  return GROUPS.get(name.toLowerCase());
}

/** The group that a tool of ours belongs to. */
export function groupOf(tool: string): ToolGroup | undefined {
  return [SHELL, READ, EDIT, FETCH, AGENT].find(({ tools }) => tools.includes(tool));
}

/** Whether a group means this tool. */
export function inGroup(
  { tools, covers }: ToolGroup,
  name: string,
  about: { readonly kind: string; readonly tool: RuleTool | undefined },
): boolean {
  return !isOwnTool(name) && (tools.includes(name) || covers(about.kind, about.tool));
}

/** The runtime's own: they ask a person themselves, so no rule allows them, and only a deny of their very name stops them. */
const OWN_TOOLS: ReadonlySet<string> = new Set(["resolve", "ask", "enter_plan_mode"]);

/** One of the runtime's own tools that only a deny by exact name may speak of. */
export function isOwnTool(name: string): boolean {
  return OWN_TOOLS.has(name.toLowerCase());
}

/** What is known of a tool; the shell tool reads its command in every setting. */
export function shapeOf(tools: RuleTools, name: string): RuleTool | undefined {
  return tools.get(name) ?? (name === "shell" ? SHELL_TOOL : undefined);
}

const SHELL_TOOL: RuleTool = { kind: "execute", commandArg: "command", aliases: { cmd: "command" } };

function hasPath(tool: RuleTool | undefined): boolean {
  return tool?.pathArgs !== undefined; // it says where it goes, whatever its arguments are called
}

/** Names that other agents use, and what they are here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["grep", "search"],
  ["ls", "list"],
  ["task", "Agent"],
  ["multiedit", "Edit"],
  ["notebookedit", "Edit"],
  ["todowrite", "todo"],
  ["terminal", "Shell"],
  ["run_shell_command", "Shell"],
  ["write_file", "Edit"],
  ["read_file", "Read"],
]);

/** What to write for a name that is no tool here. */
export function nameHint(name: string): string {
  const ours = ELSEWHERE.get(name.toLowerCase());
  return ours ? `here it is called ${ours}` : "see the names with: assent tools; a group is Shell, Read, Edit, WebFetch or Agent";
}
