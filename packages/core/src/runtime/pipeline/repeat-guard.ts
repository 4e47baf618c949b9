import { modelTextSuffix } from "../../model/text/model-text.ts";

/** Counts how many batches in a row one tool failed validation with one message. */
export type RepeatGuard = {
  /** Called once per invalid call; the text to append, empty before the third batch. */
  readonly failed: (tool: string, message: string) => string;
  readonly valid: (tool: string) => void;
  /** A batch begins; a tool absent from the last one starts anew. */
  readonly begin: () => void;
  readonly reset: () => void;
};

type Count = { message: string; batches: number; batch: number };

export function createRepeatGuard(): RepeatGuard {
  const counts = new Map<string, Count>();
  let batch = 0;
  return {
    failed: (tool, message) => {
      const known = counts.get(tool);
      if (!known || known.message !== message || known.batch < batch - 1) {
        counts.set(tool, { message, batches: 1, batch });
        return "";
      }
      if (known.batch < batch) known.batches += 1;
      known.batch = batch;
      return known.batches >= 3 ? modelTextSuffix.thirdTime : "";
    },
    valid: (tool) => {
      if (counts.size > 0) counts.delete(tool);
    },
    begin: () => {
      batch += 1;
    },
    reset: () => counts.clear(),
  };
}
