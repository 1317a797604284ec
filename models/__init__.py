"""Web graphs and models of topics: with this file a package, whose models come into the egg."""
