import type { Coercion } from "./model/coercion.ts";
import { type JsonObject } from "./model/json.ts";
import type { CallContext, Invocation, ToolDefinition } from "./tool-definition.ts";
/** A validated input, with what it belongs to. */
export type Bound = {
    readonly definition: ToolDefinition;
    readonly input: JsonObject;
    readonly coercions: readonly Coercion[];
    readonly ctx: CallContext;
};
/** What can be asked of a validated input, and how it runs. Nothing here judges, asks a person or records. */
export declare function makeInvocation(bound: Bound): Invocation;
