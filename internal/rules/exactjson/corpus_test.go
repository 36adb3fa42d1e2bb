package exactjson

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// corpusFile reads one document of JSONTestSuite.
func corpusFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func corpusNames(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", dir, err)
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	return files
}

// stricter are the documents that RFC 8259 allows and section 2 of the contract
// refuses.
var stricter = map[string]reason{
	"y_object_duplicated_key.json":           duplicate,
	"y_object_duplicated_key_and_value.json": duplicate,
}

func TestCorpusOfWhatMustBeAccepted(t *testing.T) {
	for _, name := range corpusNames(t, "test_parsing") {
		if _, ok := stricter[name]; strings.HasPrefix(name, "y_") && !ok {
			if err := Check(corpusFile(t, "test_parsing", name)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, r := range stricter {
		refused(t, string(corpusFile(t, "test_parsing", name)), r)
	}
}

func TestCorpusOfWhatMustBeRefused(t *testing.T) {
	for _, name := range corpusNames(t, "test_parsing") {
		if !strings.HasPrefix(name, "n_") {
			continue
		}
		err := Check(corpusFile(t, "test_parsing", name))
		if countersign.ErrorCode(err) != countersign.CodeInvalidJSON {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// accept stands beside the reasons in the table below.
const accept reason = -1

// undecided pins what JSONTestSuite leaves to the reader: numbers of any size
// and precision are kept digit for digit, so they are accepted; text that two
// readers could understand differently is refused.
var undecided = map[string]reason{
	"i_number_double_huge_neg_exp.json":                   accept,
	"i_number_huge_exp.json":                              exponent, // of 129 digits
	"i_number_neg_int_huge_exp.json":                      accept,
	"i_number_pos_double_huge_exp.json":                   accept,
	"i_number_real_neg_overflow.json":                     accept,
	"i_number_real_pos_overflow.json":                     accept,
	"i_number_real_underflow.json":                        accept,
	"i_number_too_big_neg_int.json":                       accept,
	"i_number_too_big_pos_int.json":                       accept,
	"i_number_very_big_negative_int.json":                 accept,
	"i_object_key_lone_2nd_surrogate.json":                surrogate,
	"i_string_1st_surrogate_but_2nd_missing.json":         surrogate,
	"i_string_1st_valid_surrogate_2nd_invalid.json":       surrogate,
	"i_string_UTF-16LE_with_BOM.json":                     syntax,
	"i_string_UTF-8_invalid_sequence.json":                encoding,
	"i_string_UTF8_surrogate_U+D800.json":                 encoding,
	"i_string_incomplete_surrogate_and_escape_valid.json": surrogate,
	"i_string_incomplete_surrogate_pair.json":             surrogate,
	"i_string_incomplete_surrogates_escape_valid.json":    surrogate,
	"i_string_invalid_lonely_surrogate.json":              surrogate,
	"i_string_invalid_surrogate.json":                     surrogate,
	"i_string_invalid_utf-8.json":                         encoding,
	"i_string_inverted_surrogates_U+1D11E.json":           surrogate,
	"i_string_iso_latin_1.json":                           encoding,
	"i_string_lone_second_surrogate.json":                 surrogate,
	"i_string_lone_utf8_continuation_byte.json":           encoding,
	"i_string_not_in_unicode_range.json":                  encoding,
	"i_string_overlong_sequence_2_bytes.json":             encoding,
	"i_string_overlong_sequence_6_bytes.json":             encoding,
	"i_string_overlong_sequence_6_bytes_null.json":        encoding,
	"i_string_truncated-utf-8.json":                       encoding,
	"i_string_utf16BE_no_BOM.json":                        syntax,
	"i_string_utf16LE_no_BOM.json":                        syntax,
	"i_structure_500_nested_arrays.json":                  depth,
	"i_structure_UTF-8_BOM_empty_object.json":             syntax,
}

func TestCorpusOfWhatIsOursToDecide(t *testing.T) {
	for _, name := range corpusNames(t, "test_parsing") {
		if !strings.HasPrefix(name, "i_") {
			continue
		}
		text := string(corpusFile(t, "test_parsing", name))
		switch want, pinned := undecided[name]; {
		case !pinned:
			t.Errorf("%s is not decided", name)
		case want == accept:
			accepted(t, text)
		default:
			refused(t, text, want)
		}
	}
}

// transformed pins what becomes of documents that decoders change silently:
// nothing, or a refusal. canonical is the form that equal values share.
var transformed = map[string]struct {
	refused   reason
	canonical string
}{
	"number_-9223372036854775808.json":         {accept, `[-9223372036854775808]`},
	"number_-9223372036854775809.json":         {accept, `[-9223372036854775809]`},
	"number_1.0.json":                          {accept, `[1]`},
	"number_1.000000000000000005.json":         {accept, `[1000000000000000005e-18]`},
	"number_1000000000000000.json":             {accept, `[1000000000000000]`},
	"number_10000000000000000999.json":         {accept, `[10000000000000000999]`},
	"number_1e-999.json":                       {accept, `[1e-999]`},
	"number_1e6.json":                          {accept, `[1000000]`},
	"number_9223372036854775807.json":          {accept, `[9223372036854775807]`},
	"number_9223372036854775808.json":          {accept, `[9223372036854775808]`},
	"object_key_nfc_nfd.json":                  {accept, "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}"},
	"object_key_nfd_nfc.json":                  {accept, "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}"},
	"object_same_key_different_values.json":    {duplicate, ""},
	"object_same_key_same_value.json":          {duplicate, ""},
	"object_same_key_unclear_values.json":      {duplicate, ""},
	"string_1_escaped_invalid_codepoint.json":  {surrogate, ""},
	"string_1_invalid_codepoint.json":          {encoding, ""},
	"string_2_escaped_invalid_codepoints.json": {surrogate, ""},
	"string_2_invalid_codepoints.json":         {encoding, ""},
	"string_3_escaped_invalid_codepoints.json": {surrogate, ""},
	"string_3_invalid_codepoints.json":         {encoding, ""},
	"string_with_escaped_NULL.json":            {accept, `["A\u0000B"]`},
}

func TestCorpusOfWhatDecodersChange(t *testing.T) {
	for _, name := range corpusNames(t, "test_transform") {
		text := string(corpusFile(t, "test_transform", name))
		switch want, pinned := transformed[name]; {
		case !pinned:
			t.Errorf("%s is not decided", name)
		case want.refused != accept:
			refused(t, text, want.refused)
		default:
			keepsExactly(t, text, want.canonical)
		}
	}
}

// keepsExactly asserts that a Value read from text is the text.
func keepsExactly(t *testing.T, text, canonical string) {
	t.Helper()
	var v countersign.Value
	if err := Decode([]byte(text), &v); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if want := strings.TrimSpace(text); v.Raw() != want {
		t.Errorf("got %s, want %s", v.Raw(), want)
	}
	if got := string(v.Canonical()); got != canonical {
		t.Errorf("%s: canonical %s, want %s", text, got, canonical)
	}
}
