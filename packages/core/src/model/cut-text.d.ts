/** A text of at most `longest` characters; one that was longer ends with an ellipsis. A surrogate pair is never split. */
export declare function cutText(text: string, longest: number): string;
/** True when a cut at this index would part a surrogate pair. */
export declare function splitsPair(text: string, at: number): boolean;
