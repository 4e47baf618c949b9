import type { Lists, PageQuery } from "../ledger-port.ts";
import { type Chains } from "./memory-chains.ts";
/** One page of a list as it stands now. */
export declare function listPage<K extends keyof Lists>(
  chains: Chains,
  kind: K,
  {
    query,
    now,
  }: {
    query: PageQuery;
    now: string;
  },
): readonly Lists[K][];
