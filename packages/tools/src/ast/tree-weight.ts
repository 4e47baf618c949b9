/** What a tree takes for each character of its text, and more: too much is only collected sooner. */
const TREE_FACTOR = 16;
const MOST = 128 * 1024 * 1024;

/**
 * Tells the collector about the tree of a text. Trees live outside of the heap, and it does not see their weight: without this it would let thousands of
 * them pile up before it looks.
 */
export function reportTreeWeight(text: string): void {
  Buffer.allocUnsafeSlow(Math.min(text.length * TREE_FACTOR, MOST));
}
