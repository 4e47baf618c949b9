import { isRootPath } from "../effects/root-delete.ts";
import { commandName } from "../read/command-name.ts";

/** Searches text that is too long to parse: the words at the start of each command are compared with each deny rule. Returns the index of the first rule that matches. Linear in the text. */
export function scanLongText(text: string, denies: readonly (readonly string[])[]): number | undefined {
  const tree = compileTree(denies);
  let found: number | undefined;
  eachCommand(text, tree.starts, (start) => {
    found = findHit(text, start, tree);
    return found !== undefined;
  });
  return found;
}

/** Whether such text has an `rm` of the root directory at the start of a command. */
export function deletesRootInLongText(text: string): boolean {
  for (const { index, 0: found } of text.matchAll(RM_STARTS)) if (deletesRootAt(text, index + found.length - 1)) return true;
  return false;
}

const RM_STARTS = /(?:^|[\n;&|])[ \t]*["'\\/.rR\u0080-\uffff]/g;

type WordTree = {
  readonly next: Map<string, WordTree>;
  readonly starts: StartFlags;
  hit: number | undefined;
};

/** A flag for each ASCII character; others always count. */
type StartFlags = Uint8Array;

const ASCII = 128;

function mayStart(starts: StartFlags, code: number): boolean {
  return starts[code] !== 0;
}

function addStart(starts: StartFlags, text: string): void {
  const code = text.charCodeAt(0);
  if (code < ASCII) starts[code] = 1;
}

const COMPILED = new WeakMap<readonly (readonly string[])[], WordTree>();

function compileTree(denies: readonly (readonly string[])[]): WordTree {
  const known = COMPILED.get(denies);
  if (known) return known;
  const root = newTree();
  denies.forEach(([name, ...words], index) => {
    if (name === undefined) return;
    let tree = addBranch(root, commandName(name));
    for (const word of words) tree = addBranch(tree, word);
    tree.hit ??= index;
  });
  for (const name of root.next.keys()) addStarts(root.starts, name);
  COMPILED.set(denies, root);
  return root;
}

function newTree(): WordTree {
  return { next: new Map(), starts: new Uint8Array(ASCII), hit: undefined };
}

function addBranch({ next, starts }: WordTree, word: string): WordTree {
  const known = next.get(word);
  if (known) return known;
  const made = newTree();
  next.set(word, made);
  for (const start of [word, ...QUOTES]) addStart(starts, start);
  return made;
}

const QUOTES: readonly string[] = ["\\", "'", '"'];

/** A name may begin with a capital letter or follow a path. */
function addStarts(starts: StartFlags, name: string): void {
  for (const start of [name, name.toUpperCase(), "/", ".", ...QUOTES]) addStart(starts, start);
}

const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;

function isSeparator(code: number): boolean {
  return code === NEWLINE || code === 59 || code === 38 || code === 124;
}

function eachCommand(text: string, starts: StartFlags, look: (start: number) => boolean): void {
  let isStart = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSeparator(code)) isStart = true;
    else if (isStart && code !== SPACE && code !== TAB) {
      isStart = false;
      if (mayStart(starts, code) && look(i)) return;
    }
  }
}

function findHit(text: string, start: number, root: WordTree): number | undefined {
  let end = wordEnd(text, start);
  let tree = root.next.get(nameAt(text, start, end));
  let hit = tree?.hit;
  while (tree && tree.next.size > 0) {
    const at = nextWord(text, end);
    if (at === -1 || !mayStart(tree.starts, text.charCodeAt(at))) break;
    end = wordEnd(text, at);
    tree = tree.next.get(wordAt(text, at, end));
    hit = tree?.hit === undefined ? hit : Math.min(tree.hit, hit ?? tree.hit);
  }
  return hit;
}

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

/** -1: the command ends here. */
function nextWord(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSeparator(code)) return -1;
    if (code !== SPACE && code !== TAB) return i;
  }
  return -1;
}

function wordAt(text: string, from: number, end: number): string {
  const word = text.slice(from, end);
  return QUOTING.test(word) ? word.replace(/["'\\]/g, "") : word;
}

const QUOTING = /["'\\]/;
