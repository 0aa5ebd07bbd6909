"""What a file means: every setting in force with where it comes from, and what follows from all of them."""
