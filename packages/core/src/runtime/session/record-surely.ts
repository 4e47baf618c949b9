import { ToolError } from "../../errors.ts";
import { type Durability, LedgerError } from "../../ledger-port.ts";
import type { Draft } from "../../model/events.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Clock } from "../../ports.ts";
import type { Session } from "./session.ts";

const RETRY_MS = 1_000;

type SureRecord = {
  readonly events: () => readonly Draft[];
  readonly durability?: Durability;
  /** If absent, retries forever, even while the disk is full. */
  readonly tries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

const LAST_TRIES = 3;

type Recorder = { readonly session: Session; readonly clock: Clock; readonly warn?: ((message: string) => void) | undefined };

/** Retries while the store may recover. */
export async function recordSurely(recorder: Recorder, recording: SureRecord): Promise<void> {
  const { session, clock } = recorder;
  const { events, durability = "normal" } = recording;
  let mayWait: ReturnType<typeof makePatience> | undefined;
  for (;;) {
    try {
      await session.record(events(), durability);
      return;
    } catch (error) {
      mayWait ??= makePatience(recorder, recording);
      if (!mayWait(error)) throw error;
      await new Promise<void>((resolve) => clock.timer(RETRY_MS, resolve, { keepsAlive: true }));
    }
  }
}

function makePatience({ warn }: Recorder, { tries, signal }: SureRecord): (error: unknown) => boolean {
  let tried = 0;
  let last = tries;
  let said: string | undefined;
  return (error) => {
    tried += 1;
    if (signal?.aborted) last ??= tried + LAST_TRIES;
    if (!isPassing(error, tries === undefined) || (last !== undefined && tried >= last)) return false;
    const message = messageOf(error);
    if (message !== said) warn?.(message);
    said = message;
    return true;
  };
}

/** Throws `ToolError` if the events cannot be recorded before the effect. */
export async function recordFirst({ session }: Pick<Recorder, "session">, first: FirstRecord): Promise<void> {
  try {
    await session.record(first.events, first.durability, first.blobs);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    throw new ToolError(`Nothing was done: it could not be recorded (${error.message})`, "execution_failed", { cause: error });
  }
}

type FirstRecord = {
  readonly events: readonly Draft[];
  readonly durability: Durability;
  readonly blobs?: readonly Uint8Array[] | undefined;
};

function isPassing(error: unknown, done: boolean): boolean {
  return error instanceof LedgerError && (error.type === "store_locked" || (done && error.type === "store_full"));
}
