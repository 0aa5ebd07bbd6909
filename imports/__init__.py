"""The only package that imports CDKTF and the provider bindings. Importing it starts Node and makes them load fast."""

from nodeless.imports.fast_bindings import prepare

prepare()
