/** How many single-character edits lead from one text to the other, or `limit + 1` as soon as it is more than `limit`. */
export declare function editDistance(from: string, to: string, limit: number): number;
