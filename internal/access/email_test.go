package access

import "testing"

func TestEmailsCompareAfterNFKCAndCaseFolding(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Ada@Example.COM", "ada@example.com"},
		{"\uff21da@example.com", "ada@example.com"},                                      // a fullwidth letter
		{"jose\u0301@example.com", "jos\u00e9@example.com"},                              // a letter and its accent
		{"JOS\u00c9@example.com", "jos\u00e9@example.com"},                               // one letter
		{"\u039f\u0394\u039f\u03a3@example.com", "\u03bf\u03b4\u03bf\u03c3@example.com"}, // Greek, with either sigma
		{"\u03bf\u03b4\u03bf\u03c2@example.com", "\u03bf\u03b4\u03bf\u03c3@example.com"},
		{"stra\u00dfe@example.com", "stra\u00dfe@example.com"},
		{"a1@x.example", "a1@x.example"},
		{"\u0131da@example.com", "\u0131da@example.com"}, // a dotless i is no i
		{"\u0130da@example.com", "\u0130da@example.com"}, // nor is a dotted capital one
	} {
		if got, err := CanonicalEmail(test.text); err != nil || got != test.want {
			t.Errorf("%q: %q, %v; want %q", test.text, got, err, test.want)
		}
	}
}

func TestAnEmailWhoseLettersBecomeAnotherScriptsIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"Kelvin sign":             "\u212aate@example.com",
		"angstrom sign":           "\u212b@example.com",
		"ohm sign":                "\u2126@example.com",
		"micro sign":              "\u00b5@example.com",
		"script small l":          "\u2113ea@example.com",
		"mathematical bold a":     "\U0001d41ada@example.com",
		"a circled letter":        "\u24d0da@example.com",
		"a sign that hides an at": "ada\u2100example.com",
		"letters in the domain":   "ada@example.\u2102om",
		"no UTF-8":                "ad\xffa@example.com",
	} {
		if got, err := CanonicalEmail(text); err == nil {
			t.Errorf("%s: it is %q", name, got)
		}
	}
}

func TestCanonicalEmailsStayAsTheyAre(t *testing.T) {
	for _, text := range []string{"Ada@Example.COM", "\uff21da@example.com", "jose\u0301@example.com", "\u1e9e@example.com", "\u01c5@example.com", "\u0390\u1fd3@example.com"} {
		once, err := CanonicalEmail(text)
		if err != nil {
			continue
		}
		if twice, err := CanonicalEmail(once); err != nil || twice != once {
			t.Errorf("%q: %q, then %q, %v", text, once, twice, err)
		}
	}
}
