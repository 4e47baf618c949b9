import type { Verdict } from "./decision.ts";
import type { Glob } from "./glob.ts";
/** How a command is read by a rule where nothing analyses shell: as text, narrowly for an allow, broadly for a deny or ask. */
export declare function commandTest(glob: Glob, how: Verdict): (command: string) => boolean;
/** True for bare words and blanks: no quoting, no expansion, no operator, so that there is nothing a shell could read differently. */
export declare function isPlainCommand(command: unknown): boolean;
