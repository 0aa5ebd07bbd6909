// Loads only those modules that are in use. Preloaded into jsii's Node by fast_bindings.py.
"use strict";

// A prebuilt provider's index.js requires every resource. Beside it lies lazy-index.js: the same names, as getters.
const INDEX = /[\\/]@cdktf[\\/]provider-([^\\/]+)[\\/]lib[\\/]index\.js$/;
// What CDKTF packs assets of the kind ARCHIVE with; few apps have one.
const ARCHIVER = /[\\/]node_modules[\\/]archiver[\\/]index\.js$/;

try {
  const { existsSync, readFileSync } = require("fs");
  const Module = require("module");
  const { dirname, join } = require("path");
  const load = require.extensions[".js"];

  // What a name of the provider's index stands for: a module that the façade beside this file takes from it
  // (`from cdktf_cdktf_provider_aws.iam_role import ...`), or else whatever the long lazy index says.
  const inUse = (provider) => {
    const facade = join(__dirname, `${provider}.py`);
    const taken = new RegExp(`^from cdktf_cdktf_provider_${provider}\\.(\\w+) import`, "gm");
    const text = existsSync(facade) ? readFileSync(facade, "utf8") : "";
    const names = [...text.matchAll(taken)].map((match) => match[1]);
    const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    return new Map(names.map((name) => [camel(name), `./${name.replaceAll("_", "-")}`]));
  };

  // Stands for a module and loads it when it is first looked at.
  const deferred = (parent, filename, known = new Map()) => {
    let loaded;
    const whole = () => {
      if (!loaded) {
        loaded = new Module(filename, parent);
        loaded.filename = filename;
        loaded.paths = parent.paths;
        load(loaded, filename);
      }
      return loaded.exports;
    };
    return new Proxy(function () {}, {
      get: (_, name) => (known.has(name) ? parent.require(known.get(name)) : whole()[name]),
      apply: (_, self, values) => Reflect.apply(whole(), self, values),
    });
  };

  require.extensions[".js"] = (module, filename) => {
    const [, provider] = INDEX.exec(filename) || [];
    const lazy = join(dirname(filename), "lazy-index.js");
    if (provider && existsSync(lazy)) module.exports = deferred(module, lazy, inUse(provider));
    else if (ARCHIVER.test(filename)) module.exports = deferred(module, filename);
    else load(module, filename);
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
