"""One file per subject, with constructs only; they create what the resolved layer has decided."""
