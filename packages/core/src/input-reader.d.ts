import { type JsonObject } from "./model/json.ts";
import type { SchemaProblem, Schemas } from "./ports.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { JsonSchema, Maybe, ToolDefinition } from "./tool-definition.ts";
/** What a schema says about an input: the value it makes of it, or what is wrong. */
export type Checked = {
    readonly ok: true;
    readonly value: unknown;
} | {
    readonly ok: false;
    readonly problems: readonly SchemaProblem[];
};
/** Everything that depends on which kind of schema a tool declares. */
export type InputReader = {
    /** What the model is shown; derived once, when first asked for. */
    readonly shown: () => JsonSchema;
    /** The schema whose types coercion aims at. */
    readonly typed: () => JsonSchema;
    readonly validate: (input: JsonObject) => Maybe<Checked>;
    /** Makes `validate` usable. Throws `schema_does_not_compile`; never leaves a tool whose input is not validated. */
    readonly compile: (schemas: Schemas | undefined) => void;
};
/** Reads a tool's input by the schema it declares. */
export declare function readerOf(definition: ToolDefinition): InputReader;
/** True for a schema of a library that follows Standard Schema, whatever else it is. */
export declare function isStandardSchema(value: unknown): value is StandardSchema;
