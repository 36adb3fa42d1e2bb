package receiver_test

import "strings"

func timed() []vector {
	const reason = "timestamp"
	arriving := func(name, reason string, now int64) vector {
		return spoiled(name, reason, func(v *vector) { v.Now = now })
	}
	list := []vector{
		arriving("300 s old", "", sentAt+300),
		arriving("301 s old", reason, sentAt+301),
		arriving("300 s early", "", sentAt-300),
		arriving("301 s early", reason, sentAt-301),
		arriving("years old", reason, sentAt+1<<30),
	}
	for _, form := range []struct{ name, at string }{
		{"with a plus", "+1767225600"}, {"with a leading zero", "01767225600"}, {"with a fraction", "1767225600.0"},
		{"with an exponent", "1.7672256e9"}, {"with a blank before it", " 1767225600"}, {"with a blank behind it", "1767225600 "},
		{"in milliseconds", "1767225600000"}, {"as a date", "2026-01-01T00:00:00Z"}, {"in hex", "0x6955b900"},
		{"in other digits", "١٧٦٧٢٢٥٦٠٠"}, {"beyond 64 bits", "99999999999999999999"}, {"that is negative", "-1767225600"},
	} {
		list = append(list, as("signed timestamp "+form.name, reason, func(s *sample) { s.at = form.at }))
	}
	return list
}

func missing() (list []vector) {
	const reason = "missing_header"
	for _, name := range []string{keyHeader, runHeader, stepHeader, timeHeader, signatureHeader} {
		list = append(list,
			spoiled("missing: "+name, reason, func(v *vector) { delete(v.Headers, name) }),
			spoiled("repeated: "+name, reason, func(v *vector) { v.Headers[name] = []string{v.Headers[name].(string), v.Headers[name].(string)} }),
		)
	}
	return append(list,
		as("empty: "+keyHeader, reason, func(s *sample) { s.key = "" }),
		as("empty: "+runHeader, reason, func(s *sample) { s.run = "" }),
		spoiled("repeated with another value: "+keyHeader, reason, func(v *vector) { v.Headers[keyHeader] = []string{"run-1.refund", "run-2.refund"} }),
		spoiled("repeated in another case: "+keyHeader, reason, func(v *vector) { v.Headers[strings.ToLower(keyHeader)] = "run-1.refund" }),
		spoiled("repeated and joined by a comma: "+keyHeader, "signature", func(v *vector) { v.Headers[keyHeader] = "run-1.refund, run-1.refund" }),
	)
}

// broken returns calls whose signature is right, but whose signed parts contain line breaks.
func broken() []vector {
	const reason = "line_break"
	return []vector{
		as("CR LF in the key", reason, func(s *sample) { s.key = "run-1\r\nrefund" }),
		as("LF in the run id", reason, func(s *sample) { s.run = "run-1\n" }),
		as("CR in the step id", reason, func(s *sample) { s.step = "\rrefund" }),
		as("LF in the timestamp", reason, func(s *sample) { s.at = "1767225600\n" }),
		as("LF in the target", reason, func(s *sample) { s.target = "/refunds\n1767225600" }),
		as("LF in the method", reason, func(s *sample) { s.method = "POST\n" }),
		as("LF that moves a part into the next", reason, func(s *sample) { s.key, s.run = "run-1.refund\nrun-1", "refund" }),
	}
}

// ordered returns calls that break two rules. The error names the first of no_secret,
// missing_header, line_break, signature, timestamp.
func ordered() []vector {
	return []vector{
		spoiled("order: no secret before a missing header", "no_secret", func(v *vector) {
			v.Secrets = []string{}
			delete(v.Headers, keyHeader)
		}),
		spoiled("order: a missing header before a line break", "missing_header", func(v *vector) {
			v.Headers[runHeader] = "run-1\n"
			delete(v.Headers, signatureHeader)
		}),
		spoiled("order: a line break before the signature", "line_break", func(v *vector) { v.Headers[stepHeader] = "re\nfund" }),
		spoiled("order: the signature before the timestamp", "signature", func(v *vector) {
			v.Headers[runHeader] = "run-2"
			v.Now = sentAt + 301
		}),
		spoiled("order: the signature before the form of the timestamp", "signature", func(v *vector) { v.Headers[timeHeader] = "now" }),
	}
}
