/** What the model is told about a name that is no offered tool. A near name is only ever suggested, never taken in its place. */
export declare function unknownToolMessage(name: string, visibleNames: readonly string[]): string;
/** At most three names that a slip of the pen could have meant: nearest first, ties alphabetical. Case and outer blanks do not count. */
export declare function suggestions(name: string, visibleNames: readonly string[]): readonly string[];
