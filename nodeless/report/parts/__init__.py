"""The parts of the page about one cluster: each turns values into markup."""
