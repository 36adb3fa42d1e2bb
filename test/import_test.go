package test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// adyen writes a public OpenAPI document to a file.
func adyen(t *testing.T) string {
	t.Helper()
	f, err := os.Open("../internal/rules/importer/testdata/adyen-checkout.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "adyen.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProposalOfAPublicDocumentIsRegisteredDisabled(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", "https://checkout-test.adyen.com"), harness.Set("CREDENTIAL_ENV_ALLOWLIST", "PAY_KEY"))
	file := filepath.Join(t.TempDir(), "pay.json")
	r := harness.Run(t, nil, "import", "openapi", adyen(t), "--project", "default-pay", "--credential-env", "PAY_KEY", "--out", file)
	if r.Status != 0 {
		t.Fatal(r.Err)
	}
	proposal, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	project := s.Admin.Put("/projects/default-pay", string(proposal)).OK(t).Is(t, "enabled", false).Is(t, "revision", 1)
	if n := len(project.At("capabilities").Items()); n != 28 {
		t.Errorf("%d capabilities are registered, not the 28 of the document", n)
	}
}
