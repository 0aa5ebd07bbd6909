"""One file, one construct, one noun; none of them sees a version or the YAML."""
