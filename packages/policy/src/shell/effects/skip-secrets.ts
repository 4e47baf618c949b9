import { SECRET_DIRECTORY_NAMES, SECRET_NAME_GLOBS, SHOWN_NAMES } from "../../paths/sensitive.ts";
import { optionsOf, readTokens } from "../programs/options.ts";
import { PROGRAMS } from "../programs/table.ts";

type Words = readonly [name: string, ...args: string[]];

/** How a program that reads whole directories is kept from files with secrets. */
export type SkipManner = "grep" | "rg" | "diff" | "find";

/** Adds options by which a recursive search skips files with secrets. */
export function skipSecrets(manner: SkipManner, words: Words, more: readonly string[]): Words {
  const { files, directories } = secretGlobs(more);
  switch (manner) {
    case "grep": {
      const shown = words.some((word) => word.startsWith("--include")) ? [] : SHOWN_NAMES.map((name) => `--include=${name}`);
      return addOptions(words, [
        ...files.map((glob) => `--exclude=${glob}`),
        ...shown,
        ...directories.map((glob) => `--exclude-dir=${glob}`),
      ]);
    }
    case "diff":
      return addOptions(
        words,
        [...files, ...directories].map((glob) => `--exclude=${glob}`),
      );
    case "rg": // reads these after `--glob`, and the last one wins
      return addOptions(
        words,
        [...files, ...directories].map((glob) => `--iglob=!${glob}`),
      );
    case "find": {
      const [name, ...args] = words;
      const start = args.findIndex((word, i) => /^[-!(),]/.test(word) && !(i === 0 && /^-[HP]$/.test(word)));
      const at = start === -1 ? args.length : start;
      return [name, ...args.slice(0, at), ...onlyHarmless(more), "(", ...args.slice(at), ")"];
    }
    default:
      return manner satisfies never;
  }
}

/** Stages before `xargs`: files that exist below the directory, without links, devices, secrets, and names that look like options. */
export function vetFoundFiles(xargs: Words, cwd: string, more: readonly string[]): readonly Words[] {
  const separated = xargs.some((word) => word === "-0" || word === "--null");
  return [
    ...(separated ? [] : [["tr", "\\n", "\\0"] as const]),
    ["xargs", "-0", "-r", "realpath", "-q", "-e", "-z", `--relative-base=${cwd}`, "--"],
    ["find", "-files0-from", "-", "-maxdepth", "0", ...onlyHarmless(more), "!", "-path", "/*", "!", "-path", "-*", "-print0"],
  ];
}

function onlyHarmless(more: readonly string[]): readonly string[] {
  const { files, directories } = secretGlobs(more);
  const within = directories.flatMap((glob) => [`${glob}/*`, `*/${glob}/*`]);
  const tests = [...[...files, ...directories].map((glob) => ["-name", glob]), ...within.map((glob) => ["-path", glob])];
  const shown = SHOWN_NAMES.flatMap((name) => ["-o", "-name", name]);
  const secret = tests.flatMap((test, i) => (i === 0 ? test : ["-o", ...test]));
  return ["-nowarn", "(", "-type", "f", "-o", "-type", "d", ")", "(", "!", "(", ...secret, ")", ...shown, ")"];
}

/** Names in any case. Of a path in settings its last name counts. */
function secretGlobs(more: readonly string[]): { readonly files: readonly string[]; readonly directories: readonly string[] } {
  const added = more.map(
    (glob) =>
      glob
        .split("/")
        .filter((part) => part !== "" && !/^\*+$/.test(part))
        .at(-1) ?? "",
  );
  const own = added.filter((name) => name !== "").map(inAnyCase);
  return { files: [...SECRET_NAME_GLOBS.map(inAnyCase), ...own], directories: [...SECRET_DIRECTORY_NAMES.map(inAnyCase), ...own] };
}

function inAnyCase(glob: string): string {
  return glob.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/** After the other options, because the last one counts, and before `--`. */
function addOptions([name, ...args]: Words, added: readonly string[]): Words {
  const reads = PROGRAMS.get(name)?.reads;
  const options = optionsOf(typeof reads === "object" ? reads : {});
  const end = [...readTokens(args, options, { exact: true })].find(({ kind }) => kind === "end")?.at ?? args.length;
  return [name, ...args.slice(0, end), ...added, ...args.slice(end)];
}
