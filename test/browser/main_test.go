// Package browser runs whole stories of the console in a real browser, and checks every page: by the
// accessibility rules of axe-core, for violations of the content security policy, for errors of scripts, and
// for its size.
//
//	go test ./test/browser                              # stories, and pages at each width on each ground
//	go test ./test/browser -short                       # each page at one width on one ground
//	go test ./test/browser -run Pages -screens DIR      # and a picture of each
//	go test ./test/browser -run MovingPicture -moving F # the README's moving picture
//	go test ./test/browser -run Soon -paint 200ms       # how soon pages show something: by a clock
package browser

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var everyView = flag.Bool("all", false, "look at each page in all four views with -short too")

// screens is the directory of the pages' screenshots, "" for none.
var screens = flag.String("screens", "", "write a picture of each page into this folder")

// TestMain closes the browser that the tests share.
func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "countersign-browser-")
	if err == nil {
		err = harness.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if chrome.stop != nil {
		chrome.stop()
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}
