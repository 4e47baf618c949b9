import type { ReadStream } from "node:tty";

/** Keys pressed before the screen was ready. */
export type EarlyKeys = {
  /** Passes them to the next reader of the keyboard. */
  readonly handOver: () => void;
  /** Drops them. */
  readonly drop: () => void;
};

/** Keeps what is typed. Resolves when everything typed before raw mode is read. */
export async function keepEarlyKeys(keyboard: ReadStream): Promise<EarlyKeys> {
  let kept = "";
  const keep = (data: string): void => {
    kept += data;
  };
  const drop = (): void => {
    keyboard.off("data", keep);
    keyboard.pause();
  };
  keyboard.setEncoding("utf8");
  keyboard.on("data", keep);
  for (let looked = 0; looked < LOOKS; looked += 1) await new Promise((resolve) => setImmediate(resolve));
  kept = restoreKeys(kept);
  return {
    drop,
    handOver: () => {
      drop();
      if (kept !== "") keyboard.unshift(kept, "utf8");
    },
  };
}

/** Rounds of the event loop until pending input is read. */
const LOOKS = 2;

/** Before raw mode the terminal turns Enter into a line feed and Ctrl-D into NUL. A single line feed is Enter; several may come from a paste, so they stay text and nothing is sent. */
function restoreKeys(typed: string): string {
  const pressed = typed.replaceAll("\0", CTRL_D);
  const first = pressed.indexOf("\n");
  return first === pressed.lastIndexOf("\n") ? pressed.replace("\n", "\r") : pressed;
}

const CTRL_D = "\u0004";
