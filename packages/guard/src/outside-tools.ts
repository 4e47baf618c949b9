import {
  type ConfirmationDetails,
  defineTool,
  isObject,
  type JsonObject,
  type Kind,
  type Location,
  type ProbeAnswer,
  type StandardSchema,
  type Tool,
  type ToolDefinition,
  ToolError,
} from "@assent/core";

/** What the tools of one hook process do with the one call they are about. */
export type OutsideRun = {
  readonly agent: string;
  /**
   * Called once the call is claimed. Returns its result, or undefined if the agent now runs it and reports its end.
   * Throws if the agent would run something else.
   */
  readonly handOver: (input: JsonObject) => string | undefined;
  /** What the agent reported; undefined before it did. */
  readonly report: () => ProbeAnswer | undefined;
};

/** Creates a run for judging recorded calls of an agent. Nothing is handed over or reported. */
export function createJudgeOnlyRun(agent: string): OutsideRun {
  const refuse = (): never => {
    throw new ToolError(`Assent does not run this call; ${agent} does.`);
  };
  return { agent, handOver: refuse, report: () => undefined };
}

/**
 * A built-in tool whose calls another agent runs. Rules, places and its own permission stay; its body hands the call to the agent
 * and never ends. The agent's report ends the call, in another process.
 */
export function outsideTool(builtIn: Tool, run: OutsideRun): Tool {
  const { permission, safe } = builtIn.definition;
  return defineTool({
    ...bodyOf(builtIn, run),
    inputSchema: { type: "object", properties: namedFields(builtIn) },
    ...(permission && { permission }),
    ...(safe && { safe }),
  });
}

/** Rules and their examples are about these fields. The agent's call may have others. */
function namedFields({ inputSchema }: Tool): JsonObject {
  const properties = isObject(inputSchema) && isObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
  return Object.fromEntries(Object.keys(properties).map((name) => [name, {}]));
}

/** A tool of the agent that Assent doesn't know, such as one of an MCP server. Its call is about files if its input names some. */
export function unknownOutsideTool({ tool, kind, input = {} }: UnknownCall, run: OutsideRun): Tool {
  const { locations, ...body } = bodyOf({ name: tool, title: tool, kind }, run);
  return defineTool(locations && locationsOf(input).length > 0 ? { ...body, locations } : body);
}

/** A call of such a tool; without input only its name counts. */
export type UnknownCall = { readonly tool: string; readonly kind: Kind; readonly input?: JsonObject };

type OutsideDefinition = ToolDefinition<StandardSchema<Record<string, unknown>>>;

function bodyOf({ name, title, kind }: Pick<Tool, "name" | "title" | "kind">, run: OutsideRun): OutsideDefinition {
  return {
    name,
    title,
    kind,
    description: `${title}, run by ${run.agent}`,
    input: ANY_OBJECT,
    inputSchema: { type: "object" },
    describe: (input) => describeCall(title, input as JsonObject, run.agent),
    locations: (input) => locationsOf(input as JsonObject),
    confirm: (input, { cwd }) => confirmCall(name, input as JsonObject, { agent: run.agent, cwd }),
    run: (input) => {
      const result = run.handOver(input as JsonObject);
      return result === undefined ? new Promise<never>(() => undefined) : { content: result };
    },
    probe: () => run.report() ?? { state: "unknown", evidence: "the agent did not report a result" },
  };
}

const ANY_OBJECT: StandardSchema<Record<string, unknown>> = {
  "~standard": {
    version: 1,
    vendor: "assent",
    validate: (value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? { value: value as Record<string, unknown> }
        : { issues: [{ message: "must be an object" }] },
  },
};

function locationsOf(input: JsonObject): readonly Location[] {
  const { file_path: file, path, files, more } = input;
  const named = typeof file === "string" ? [file] : Array.isArray(files) ? files : typeof path === "string" ? [path] : [];
  const others = isObject(more) ? Object.entries(more).flatMap(([name, value]) => (NAMES_FILES.test(name) ? [value].flat() : [])) : [];
  return [...named, ...others.filter((one) => typeof one === "string")].map((one) => ({ path: String(one) }));
}

/** Fields that newer versions of a tool may have beside the one that Assent knows. */
const NAMES_FILES = /(?:^|_)(?:path|file|dir|directory|folder)s?$|(?:Path|File|Dir|Directory|Folder)s?$/;

function describeCall(title: string, input: JsonObject, agent: string): string {
  const { command, file_path: file, files, url, pattern, path } = input;
  const subject = [command, file, Array.isArray(files) ? files.join(", ") : undefined, url, pattern, path].find(
    (value) => typeof value === "string" && value !== "",
  );
  return `${title}${
    subject === undefined
      ? ""
      : ` ${String(subject)
          .replace(/\s*\n\s*/g, " ⏎ ")
          .slice(0, 200)}`
  } (run by ${agent})`;
}

function confirmCall(
  tool: string,
  input: JsonObject,
  { agent, cwd }: { readonly agent: string; readonly cwd: string },
): ConfirmationDetails {
  const { command, cwd: directory } = input;
  const warnings = [`${agent} runs it, not Assent.`];
  if (typeof command === "string")
    return {
      type: "exec",
      command,
      rootCommand: command.trim().split(/\s/, 1)[0] ?? "",
      cwd: typeof directory === "string" ? directory : cwd,
      warnings,
    };
  return { type: "info", prompt: shownInput(tool, input), warnings };
}

const SHOWN_CHARS = 20_000;

/** Text fields as text, so that line breaks are readable. */
function shownInput(tool: string, input: JsonObject): string {
  const parts = Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
  });
  const text = [tool, ...parts].join("\n");
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS).toWellFormed()}\n[${text.length - SHOWN_CHARS} more characters]`;
}
