import type { ToolResult } from "@assent/core";
/** A failed result: what the model reads, and the type by which programs tell failures apart. */
export declare function failure(type: string, message: string): ToolResult;
/** The failure behind a system error; one without an entry has the type of whoever met it. */
export declare function fileFailure(
  error: unknown,
  {
    shown,
    otherwise,
  }: {
    readonly shown: string;
    readonly otherwise: string;
  },
): ToolResult;
