import { ToolDefinitionError } from "./errors.ts";
import { isObject } from "./model/json/json.ts";
import { suggestions } from "./model/text/suggest.ts";
import type { Schemas } from "./ports.ts";
import { compileInput, isTool } from "./tool.ts";
import type { Tool } from "./tool-definition.ts";

/** The tools that can be called, each under one name. */
export type Registry = {
  /** Throws `ToolDefinitionError` and changes nothing if the tool is refused; never replaces a tool. */
  readonly add: (tool: Tool) => void;
  /** Lets calls under an older name reach a registered tool. */
  readonly alias: (name: string, canonical: string) => void;
  /** Finds a tool by exact name or alias; its name differs if an alias was used. */
  readonly get: (name: string) => Tool | undefined;
  /** All tools, in order of registration. */
  readonly list: () => readonly Tool[];
  /** The tools offered to the model. */
  readonly visible: () => readonly Tool[];
  /** Names of visible tools that a wrong name may have meant. */
  readonly suggest: (name: string) => readonly string[];
};

/**
 * Creates an empty registry. Without `schemas`, tools with a raw JSON Schema are refused, because their input could not
 * be validated.
 */
export function createRegistry({ schemas }: { readonly schemas?: Schemas } = {}): Registry {
  const byName = new Map<string, Tool>();
  const taken = new Map<string, string>();
  const added: Tool[] = [];
  /** Undefined after a tool was added; thousands of tools are added one by one. */
  let lists: { readonly all: readonly Tool[]; readonly offered: readonly Tool[] } | undefined;
  const listTools = (): NonNullable<typeof lists> => {
    lists ??= { all: Object.freeze([...added]), offered: Object.freeze(added.filter(({ hidden }) => !hidden)) };
    return lists;
  };

  const refuseTaken = (name: string): void => {
    const holder = taken.get(name.toLowerCase());
    if (holder !== undefined) throw duplicate(name, holder);
  };
  const enter = (name: string, tool: Tool): void => {
    taken.set(name.toLowerCase(), name);
    byName.set(name, tool);
  };

  return Object.freeze({
    add: (tool: Tool) => {
      if (!isTool(tool) || typeof tool.name !== "string" || !isObject(tool.definition)) {
        throw new ToolDefinitionError("not_a_tool", "Only what defineTool returns can be registered.");
      }
      refuseTaken(tool.name);
      compileInput(tool, schemas);
      // Refuses a Standard Schema that cannot be shown to the model now, not in the middle of a turn.
      void tool.inputSchema;
      enter(tool.name, tool);
      added.push(tool);
      lists = undefined;
    },
    alias: (name: string, canonical: string) => {
      const tool = byName.get(canonical);
      if (!tool) throw new ToolDefinitionError("not_a_tool", `'${name}' cannot stand for '${canonical}': no tool has that name.`);
      refuseTaken(name);
      enter(name, tool);
    },
    get: (name: string) => byName.get(name),
    list: () => listTools().all,
    visible: () => listTools().offered,
    suggest: (name: string) =>
      suggestions(
        name,
        listTools().offered.map((tool) => tool.name),
      ),
  });
}

function duplicate(name: string, holder: string): ToolDefinitionError {
  const why = name === holder ? `The name '${name}' is taken.` : `'${name}' differs from '${holder}' only in case.`;
  return new ToolDefinitionError("duplicate_name", why);
}
