import type { Schemas } from "./ports.ts";
import type { Tool } from "./tool-definition.ts";
/** The tools that can be called, each under one name. */
export type Registry = {
    /** Throws `ToolDefinitionError` and changes nothing when the tool is refused; no tool ever takes another's place. */
    readonly add: (tool: Tool) => void;
    /** Lets calls under an older name reach a registered tool. */
    readonly alias: (name: string, canonical: string) => void;
    /** By exact name or alias; a found tool whose name differs from the asked one was called by an alias. */
    readonly get: (name: string) => Tool | undefined;
    /** All tools, in order of registration. */
    readonly list: () => readonly Tool[];
    /** The tools the model is offered. */
    readonly visible: () => readonly Tool[];
    /** Names of visible tools that a wrong name may have meant. */
    readonly suggest: (name: string) => readonly string[];
};
/** An empty registry. Without `schemas`, tools with a raw JSON Schema are refused: nothing is ever registered whose input is not validated. */
export declare function createRegistry({ schemas }?: {
    readonly schemas?: Schemas;
}): Registry;
