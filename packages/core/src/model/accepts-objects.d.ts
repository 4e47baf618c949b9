/** False when a schema's root surely lets no object through. Where it cannot be told, it is left to the compiler. */
export declare function acceptsObjects(schema: unknown): boolean;
