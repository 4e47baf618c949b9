import { fetchUser } from "./users.js";

export const report = (ids) => ids.map((id) => fetchUser(id)).join(", ");
