//go:build !linux

package crash

// wrapped means something on Linux only.
const wrapped = "COUNTERSIGN_CRASH_WRAPPED"

var stagesOfThisSystem []stage
