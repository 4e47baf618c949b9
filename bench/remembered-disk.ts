import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const NAMES = ["statSync", "lstatSync", "accessSync", "readFileSync", "readdirSync", "readlinkSync"] as const;

/**
 * Answers every question to the disk as it was answered the first time, until it forgets. So what a judgement costs can be measured without what the system takes to
 * tell it about files.
 */
export function rememberedDisk(): { readonly forget: () => void } {
  const before = NAMES.map((name) => [name, fs[name]] as const);
  const { native } = fs.realpathSync;
  for (const [name, ask] of before) Object.assign(fs, { [name]: remembered(ask) });
  Object.assign(fs.realpathSync, { native: remembered(native) });
  syncBuiltinESMExports();
  return {
    forget: () => {
      Object.assign(fs, Object.fromEntries(before));
      Object.assign(fs.realpathSync, { native });
      syncBuiltinESMExports();
    },
  };
}

type Answer = { readonly value: unknown } | { readonly error: unknown };

function remembered(ask: (...about: never[]) => unknown): (path: unknown, options?: unknown) => unknown {
  const plain = new Map<unknown, Answer>();
  const lenient = new Map<unknown, Answer>();
  return (path, options) => {
    const known = options === undefined ? plain : lenient; // each function is asked with one kind of options
    let answer = known.get(path);
    if (!answer) {
      answer = answerOf(() => Reflect.apply(ask, fs, [path, options]));
      known.set(path, answer);
    }
    if ("error" in answer) throw answer.error;
    return answer.value;
  };
}

function answerOf(ask: () => unknown): Answer {
  try {
    return { value: ask() };
  } catch (error) {
    return { error };
  }
}
