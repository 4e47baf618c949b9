import type { Yes } from "../model/call.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
import { type Ready } from "./judge.ts";
/** May the call run? A yes (null: nobody had to be asked), an end, an approval that waits beyond this process, or a rewritten request to look at again. */
export type Permitted =
  | Step<Yes | null>
  | {
      readonly parked: string;
    }
  | {
      readonly ready: Ready;
    };
/**
 * Turns a verdict into permission. In order:
 * 1. a deny ends the call, and takes back a yes that was given before;
 * 2. a yes on disk that still covers the request holds;
 * 3. an allow needs nobody, unless the call already waits;
 * 4. an ask: told no to exactly this before → grants → permission hooks → a person, or `onAsk` where nobody can be asked.
 */
export declare function permit(batch: BatchRun, run: CallRun, ready: Ready): Promise<Permitted>;
