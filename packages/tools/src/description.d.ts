/** What the model is told about a tool: the text beside its source. It is found from the sources and from the build alike, because the package carries both. */
export declare function description(tool: string): string;
