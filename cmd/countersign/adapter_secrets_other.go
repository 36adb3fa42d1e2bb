//go:build !linux

package main

import "os"

// hideSecrets takes secrets out of the environment once they are read.
func hideSecrets(names []string) {
	for _, name := range names {
		_ = os.Unsetenv(name) // it has a name
	}
}
