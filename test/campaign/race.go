//go:build race

package campaign

// asTested are the flags that the tests are built with, as the Makefile has them.
var asTested = []string{"-race", "-gcflags=modernc.org/...=-race=false"}
