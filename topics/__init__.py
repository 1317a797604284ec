"""The topics of this project: with this file they are a package, and come into its egg."""
