// Preferences that the server needs when it renders the page: theme and rail.
export function remember(name, value) {
  const age = value ? 60 * 60 * 24 * 365 : 0;
  document.cookie = `${name}=${value}; path=/; max-age=${age}; samesite=lax`;
}

export const read = (name) =>
  document.cookie
    .split("; ")
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1);
