"""Programs for maintainers; users do not need them."""
