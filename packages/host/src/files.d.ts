import type { Files } from "@assent/core";
import { type SpillLimits } from "./spill-file.ts";
/** Files of this machine; the full output of calls goes to `outputDirectory/SESSION/`. */
export declare function hostFiles({ outputDirectory, limits }: { readonly outputDirectory: string; readonly limits?: SpillLimits }): Files;
/** Where a session's full outputs are; its files may be read without asking. */
export declare function sessionOutput(outputDirectory: string, sessionId: string): string;
