// Package browser tells whole stories of the console in a real browser, and looks
// at every page: with a screen reader's rules (axe-core), for violations of the
// content policy, for errors of scripts, and for its size.
//
//	go test ./test/browser                              # stories and pages
//	go test ./test/browser -run Pages -all              # pages at each width on each ground
//	go test ./test/browser -run Pages -all -screens DIR # and a picture of each
package browser

import (
	"flag"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var everyView = flag.Bool("all", false, "look at each page in all four views; else in two, which differ in width and ground")

// screens is where pictures of the pages go, "" for none.
var screens = flag.String("screens", "", "write a picture of each page into this folder")

func TestMain(m *testing.M) { harness.Main(m) }
