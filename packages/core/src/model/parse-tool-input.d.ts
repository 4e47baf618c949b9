import type { Coercion } from "./coercion.ts";
import { type JsonObject } from "./json.ts";
/** What reading a call's arguments gives. `message` is the reason only: the texts around it are the same for every invalid input. */
export type ParsedInput =
  | {
      readonly ok: true;
      readonly value: JsonObject;
      readonly coercions: readonly Coercion[];
    }
  | {
      readonly ok: false;
      readonly type: "invalid_json" | "invalid_tool_params" | "input_too_large";
      readonly message: string;
    };
/** Reads a call's arguments as they came from the model. Never throws; what it lets through is JSON that survives being written and read again. */
export declare function parseToolInput(text: string): ParsedInput;
/** The same for a door that parsed the arguments itself. A text that holds an object is read once more, which is recorded. */
export declare function parseToolValue(value: unknown): ParsedInput;
