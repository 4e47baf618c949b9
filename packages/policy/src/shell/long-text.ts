import { commandName } from "./command-name.ts";
import { isRootPath } from "./root-delete.ts";

/**
 * The cheap look at text that nobody parses: at the start and behind each newline, `;`, `&` or `|`, the next words are compared with those of each deny.
 * Gives the index of the deny that is hit first. Linear in the text.
 */
export function scanLongText(text: string, denies: readonly (readonly string[])[]): number | undefined {
  const tree = treeOf(denies);
  let found: number | undefined;
  eachCommand(text, tree.starts, (start) => {
    found = hitAt(text, start, tree.root);
    return found !== undefined;
  });
  return found;
}

/** Whether such text holds, at the start of a command, an `rm` that would delete the root directory. */
export function deletesRootInLongText(text: string): boolean {
  let found = false;
  eachCommand(text, RM_STARTS, (start) => {
    found = deletesRootAt(text, start);
    return found;
  });
  return found;
}

/** A deny's words, each leading to the next. */
type Tree = { readonly next: Map<string, Tree>; hit: number | undefined };
type Compiled = { readonly root: Tree; readonly starts: Uint8Array };

const COMPILED = new WeakMap<readonly (readonly string[])[], Compiled>();

function treeOf(denies: readonly (readonly string[])[]): Compiled {
  const known = COMPILED.get(denies);
  if (known) return known;
  const root: Tree = { next: new Map(), hit: undefined };
  denies.forEach(([name, ...words], index) => {
    if (name === undefined) return;
    let tree = root;
    for (const word of [commandName(name), ...words]) tree = branch(tree, word);
    tree.hit ??= index;
  });
  const compiled = { root, starts: startsOf([...root.next.keys()]) };
  COMPILED.set(denies, compiled);
  return compiled;
}

function branch({ next }: Tree, word: string): Tree {
  const known = next.get(word);
  if (known) return known;
  const made: Tree = { next: new Map(), hit: undefined };
  next.set(word, made);
  return made;
}

/** Character codes with which a command can begin that is worth a look: a name's first letter, or what can stand before a name. */
function startsOf(names: readonly string[]): Uint8Array {
  const starts = new Uint8Array(128);
  for (const name of names)
    for (const letter of [name.slice(0, 1), name.slice(0, 1).toUpperCase(), ...BEFORE_NAMES]) starts[letter.charCodeAt(0) & 127] = 1;
  return starts;
}

const BEFORE_NAMES: readonly string[] = ["/", ".", "\\", "'", '"'];
const RM_STARTS = startsOf(["rm"]);
const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;

function isSeparator(code: number): boolean {
  return code === NEWLINE || code === 59 || code === 38 || code === 124;
}

/** Calls `look` at each place where a command may begin, until it says that it has seen enough. */
function eachCommand(text: string, starts: Uint8Array, look: (start: number) => boolean): void {
  let isStart = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSeparator(code)) isStart = true;
    else if (isStart && code !== SPACE && code !== TAB) {
      isStart = false;
      if ((starts[code] ?? 1) === 1 && look(i)) return;
    }
  }
}

function hitAt(text: string, start: number, root: Tree): number | undefined {
  let end = wordEnd(text, start);
  let tree = root.next.get(nameAt(text, start, end));
  let hit = tree?.hit;
  while (tree && tree.next.size > 0) {
    const at = nextWord(text, end);
    if (at === -1) break;
    end = wordEnd(text, at);
    tree = tree.next.get(wordAt(text, at, end));
    hit = tree?.hit === undefined ? hit : Math.min(tree.hit, hit ?? tree.hit);
  }
  return hit;
}

/** The name of a command; most are only lower-case letters. */
function nameAt(text: string, from: number, end: number): string {
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < 97 || code > 122) return commandName(wordAt(text, from, end));
  }
  return text.slice(from, end);
}

function deletesRootAt(text: string, start: number): boolean {
  let end = wordEnd(text, start);
  if (nameAt(text, start, end) !== "rm") return false;
  let isRecursive = false;
  let isRoot = false;
  for (let at = nextWord(text, end); at !== -1 && !(isRecursive && isRoot); at = nextWord(text, end)) {
    end = wordEnd(text, at);
    const word = wordAt(text, at, end);
    isRecursive ||= /^-[a-zA-Z]*[rR]|^--r/.test(word);
    isRoot ||= isRootPath(word);
  }
  return isRecursive && isRoot;
}

function wordEnd(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SPACE || code === TAB || isSeparator(code)) return i;
  }
  return text.length;
}

/** Where the next word of the same command begins; -1: the command ends here. */
function nextWord(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSeparator(code)) return -1;
    if (code !== SPACE && code !== TAB) return i;
  }
  return -1;
}

/** A word without its quotes and backslashes. */
function wordAt(text: string, from: number, end: number): string {
  const word = text.slice(from, end);
  return QUOTING.test(word) ? word.replace(/["'\\]/g, "") : word;
}

const QUOTING = /["'\\]/;
