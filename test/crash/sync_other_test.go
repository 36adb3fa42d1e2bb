//go:build !linux

package crash

// wrapped is used on Linux only.
const wrapped = "COUNTERSIGN_CRASH_WRAPPED"

var stagesOfThisSystem []stage
