import type { InputReader } from "./input-reader.ts";
import type { CallContext, Invocation, Maybe, ToolDefinition } from "./tool-definition.ts";
/** What building needs of a tool, and where the call is made. */
export type Building = {
    readonly definition: ToolDefinition;
    readonly reader: InputReader;
    readonly ctx: CallContext;
};
/**
 * Turns untrusted input into an invocation; throws (or rejects, where the schema answers later) with the message of the first step that fails:
 * copy and root, aliases, schema, coercion and schema again, the tool's own check.
 */
export declare function buildInvocation(building: Building, given: unknown): Maybe<Invocation>;
