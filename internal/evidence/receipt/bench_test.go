package receipt

import "testing"

// BenchmarkVerifySignedAnswers verifies the receipt of a run that its receiver's signed statement has
// settled, by the log's key.
func BenchmarkVerifySignedAnswers(b *testing.B) {
	file := built(b, answeredRun(b, 3, "done"), keyOf(1))
	for b.Loop() {
		if v := Verify(file, nil); !v.OK || len(v.Answers) == 0 {
			b.Fatalf("%s: %s", v.Section, v.Problem)
		}
	}
}
