"""The only place that names CDKTF or a provider package; importing it makes the prebuilt bindings load fast."""

from nodeless.imports.fast_bindings import prepare

prepare()
