import type { EffectOffer } from "./effect-preview.ts";

/** Wider rules that "always" may store instead, and what they permit beyond this call, in plain words. */
export type WiderRules = { readonly rules: readonly string[]; readonly risk: string };

/** What a person sees before deciding. */
export type ConfirmationDetails = {
  readonly title?: string;
  /** No grant could answer the next such ask. */
  readonly hideAlwaysAllow?: boolean;
  /** Rules that "always" would store. */
  readonly permissionRules?: readonly string[];
  readonly wider?: WiderRules;
  /** Why the tool, hook or safeguard asks, in its own words. */
  readonly note?: string;
  readonly warnings?: readonly string[];
  /** What the call would do, if the runtime can find out. */
  readonly effect?: EffectOffer;
} & (
  | {
      readonly type: "edit";
      readonly fileName: string;
      readonly filePath: string;
      readonly fileDiff: string;
      readonly originalContent: string | null;
      readonly newContent: string;
      readonly isModifying?: boolean;
    }
  | { readonly type: "exec"; readonly command: string; readonly rootCommand: string; readonly cwd?: string }
  | { readonly type: "mcp"; readonly serverName: string; readonly toolName: string; readonly toolDisplayName: string }
  | { readonly type: "info"; readonly prompt: string; readonly urls?: readonly string[] }
  | { readonly type: "plan"; readonly plan: string; readonly prePlanMode?: string; readonly digest?: string }
);
