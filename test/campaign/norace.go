//go:build !race

package campaign

var asTested []string
