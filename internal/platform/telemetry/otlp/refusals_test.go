package otlp

import "testing"

// TestTracesThatCannotGoOutSayWhatToSet reads both messages.
func TestTracesThatCannotGoOutSayWhatToSet(t *testing.T) {
	for variable, want := range map[string]string{
		"OTEL_TRACES_EXPORTER":        "OTEL_TRACES_EXPORTER: traces go out by otlp; set that, or none",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "OTEL_EXPORTER_OTLP_PROTOCOL: traces go out by http/protobuf, usually to port 4318; set that",
	} {
		err := unusable(func(name string) string {
			if name == variable {
				return "console"
			}
			return ""
		})
		if err == nil || err.Error() != want {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
}
