import type { ToolResult } from "../model/result.ts";
/** What hooks have to say to the model. */
export type HookWords = {
  readonly name: string;
  readonly context?: string | undefined;
  readonly feedback?: string | undefined;
};
/** Adds hooks' words behind a result, in an envelope that names the hook and that no text can close. */
export declare function withHookWords(result: ToolResult, { name, context, feedback }: HookWords): ToolResult;
