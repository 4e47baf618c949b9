/** Estimated bytes of a tree per character of its text; deliberately high. */
const TREE_FACTOR = 16;
const MOST = 128 * 1024 * 1024;

/** Tells the garbage collector about memory that it cannot see. Otherwise thousands of trees pile up outside the heap. */
export function reportTreeWeight(text: string): void {
  Buffer.allocUnsafeSlow(Math.min(text.length * TREE_FACTOR, MOST));
}
