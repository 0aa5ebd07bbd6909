// Loads only those modules of a CDKTF provider that are in use. Preloaded into jsii's Node by fast_bindings.py.
"use strict";

// A prebuilt provider's index.js requires every resource. Beside it lies lazy-index.js: the same names, as getters.
const INDEX = /([\\/]@cdktf[\\/]provider-[^\\/]+[\\/]lib[\\/])index\.js$/;

try {
  const { existsSync } = require("fs");
  const load = require.extensions[".js"];

  require.extensions[".js"] = (module, filename) => {
    const lazy = filename.replace(INDEX, "$1lazy-index.js");
    load(module, lazy !== filename && existsSync(lazy) ? lazy : filename);
  };

  // jsii's launcher hands its own arguments on to the Node that does the work. So NODE_OPTIONS can go back to what it
  // was, and no process that Node starts sees the hook.
  const options = process.env.NODE_OPTIONS || "";
  const before = options.replace(/\s*--require "(?:[^"\\]|\\.)*lazy_index\.cjs"$/, "");
  if (before !== options) {
    process.execArgv.push("--require", __filename);
    if (before) process.env.NODE_OPTIONS = before;
    else delete process.env.NODE_OPTIONS;
  }
} catch {
  // A Node in which this does not fit loads everything: slower, with the same output.
}
