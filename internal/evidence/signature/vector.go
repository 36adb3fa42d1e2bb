package signature

// Example is a signed call with every intermediate text, for testing implementations
// in other languages.
type Example struct {
	Secret    string `json:"secret"`
	Body      string `json:"body"`
	Parts     Parts  `json:"parts"`
	Canonical string `json:"canonical"`
	Signature string `json:"signature"`
}

// Vector is the example that GET /integrations/contract publishes (contract 8).
// Its texts are written out, not computed: a change of the recipe breaks its test.
var Vector = Example{
	Secret: "countersign-test-vector-secret",
	Body:   `{"amount":12.50,"reason":"größe"}`,
	Parts: Parts{
		Method:         "POST",
		PathAndQuery:   "/orders/A-1001/refund?notify=true&note=a%20b",
		Timestamp:      "1767225600",
		IdempotencyKey: "run-1.refund",
		RunID:          "run-1",
		StepID:         "refund",
		BodySHA256:     "5dd7f45732adb76fc14b9786b5b31af63913f1f204fb2cc06cfa6a46b849c1b1",
	},
	Canonical: "POST\n/orders/A-1001/refund?notify=true&note=a%20b\n1767225600\nrun-1.refund\nrun-1\nrefund\n5dd7f45732adb76fc14b9786b5b31af63913f1f204fb2cc06cfa6a46b849c1b1",
	Signature: "sha256=e13ca9dd5d6c4f5565b2c46d086aa09ac892ca4186891b1edd807a9108024610",
}
