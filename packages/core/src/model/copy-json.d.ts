import { type Json, type JsonObject } from "./json.ts";
/** The deep-frozen copy of an input that everyone sees from then on. Every property is read once; what JSON cannot carry is refused, with its place. */
export declare function copyInput(value: unknown): JsonObject;
/** The deep-frozen copy of a value a tool gave, with lone surrogates replaced. Undefined: it is not JSON. */
export declare function copyGiven(value: unknown): Json | undefined;
