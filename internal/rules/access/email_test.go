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
		{"\ufb01n@example.com", "fin@example.com"}, // a ligature of the same script
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
		"a sign that hides dots":  "ada\u2026@example.com",
		"a sign in brackets":      "ada\u2474@example.com",
		"a unit":                  "10\u338f@example.com",
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

func TestAnAddressThatHidesACharacterOrMixesScriptsMayBeMistaken(t *testing.T) {
	for name, text := range map[string]string{
		"zero width space": "ada\u200b@example.com", "byte order mark": "\ufeffada@example.com", "direction": "ada\u202e@example.com",
		"soft hyphen": "a\u00adda@example.com", "C1 control": "ada\u0085@example.com", "line separator": "ada\u2028@example.com",
		"variation selector": "ada\ufe0f@example.com", "hangul filler": "ada\u115f@example.com", "reserved and ignorable": "ada\U000e0fff@example.com",
		"ogham space": "ada\u1680@example.com", "braille blank": "ada\u2800@example.com", "unassigned": "ada\u0378@example.com",
		"Cyrillic a": "\u0430da@example.com", "Greek alpha": "ad\u03b1@example.com", "in the domain": "ada@ex\u0430mple.com", "Armenian": "ad\u0561@example.com",
		"across a joiner": "ad\u200d\u0430@example.com", "beside a digit": "a1\u0430@example.com", "Cherokee": "\uab7ada@example.com",
	} {
		canonical, err := CanonicalEmail(text)
		if err == nil {
			err = MistakableEmail(canonical)
		}
		if err == nil {
			t.Errorf("%s: %q passes", name, text)
		}
	}
	for _, text := range []string{
		"ada@example.com", "ada+tag@example.com", "o'neil_1@ex-ample.com", "jos\u00e9@example.com", "stra\u00dfe@example.com", "\u0131da@example.com",
		"\u0438\u0432\u0430\u043d@\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444", "\u0438\u0432\u0430\u043d@example.com", "\u6771\u4eac\u30bf\u30ef\u30fc@example.jp", "\u05d0\u05d1@example.com",
		"\uc11c\uc6b8@example.kr", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35@example.com",
	} {
		canonical, err := CanonicalEmail(text)
		if err != nil || MistakableEmail(canonical) != nil {
			t.Errorf("%q: %v, %v", text, err, MistakableEmail(canonical))
		}
	}
}
