package safetext

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Letters that pass for another: "А-48213" has no letter of A to Z. The two tables have the
// letters of other scripts that Unicode's security data calls confusable with a single
// letter or digit of ASCII (UTS #39, confusables.txt of Unicode 15, under the Unicode
// License V3; what looks like 0 stands with O). An entry begins with what they look like.

var likeLetters = lookalikes(
	"O\u0b20\u12d0\u2d54\ua4f3\U00010292\U000102ab\U00010516",
	"AΑА\u13aa\u15c5\ua4ee\U000102a0\U00016f40",
	"BΒВ\u13f4\u15f7\u212c\ua4d0\U00010282\U000102a1\U00010301",
	"CϹС\u13df\u2102\u212d\u2ca4\ua4da\U000102a2\U00010302\U00010415\U0001051c",
	"D\u13a0\u15de\u15ea\u2145\ua4d3",
	"EΕЕ\u13ac\u2130\u2d39\ua4f0\U00010286\U000118a6\U000118ae",
	"FϜ\u15b4\u2131\ua4dd\U00010287\U000102a5\U00010525\U000118a2\U000118c2",
	"GԌ\u13c0\u13f3\ua4d6",
	"HΗН\u13bb\u157c\u210b\u210c\u210d\u2c8e\ua4e7\U000102cf",
	"IΙІӀ\u2110\u2111\u2c92",
	"JͿЈ\u13ab\u148d\ua4d9",
	"KΚК\u13e6\u16d5\u2c94\ua4d7\U00010518",
	"L\u13de\u14aa\u2112\u2cd0\ua4e1\U0001041b\U00010526\U000118a3\U000118b2\U00016f16",
	"MΜϺМ\u13b7\u15f0\u16d6\u2133\u2c98\ua4df\U000102b0\U00010311",
	"NΝ\u2115\u2c9a\ua4e0\U00010513",
	"OΟОՕ\u2c9e\U00010404\U000104c2\U000118b5",
	"PΡР\u13e2\u146d\u2119\u2ca2\ua4d1\U00010295",
	"Q\u211a\u2d55",
	"R\u13a1\u13d2\u1587\u211b\u211c\u211d\ua4e3\U000104b4\U00016f35",
	"SЅՏ\u13d5\u13da\ua4e2\U00010296\U00010420\U00016f3a",
	"TΤТ\u13a2\u2ca6\ua4d4\U00010297\U000102b1\U00010315\U000118bc\U00016f0a",
	"UՍ\u1200\u144c\ua4f4\U000104ce\U000118b8\U00016f42",
	"VѴ\u13d9\u142f\u2d38\ua4e6\ua6df\U0001051d\U000118a0\U00016f08",
	"WԜ\u13b3\u13d4\ua4ea",
	"XΧХ\u16b7\u2cac\u2d5d\ua4eb\U00010290\U000102b4\U00010317\U00010527",
	"YΥϒУҮ\u13a9\u13bd\u2ca8\ua4ec\U000102b2\U000118a4\U00016f43",
	"ZΖ\u13c3\u2124\u2128\ua4dc\U000118a9",
	"aαа",
	"bЬ\u13cf\u1472\u15af",
	"cϲс\u2ca5\uabaf\U0001043d",
	"dԁ\u13e7\u146f\u2146\ua4d2",
	"eеҽ\u212f\u2147",
	"fք",
	"gց\u210a",
	"hһհ\u13c2\u210e",
	"i\u037aιіӏ\u13a5\u2139\u2148\ua647\uab75\U000118c3",
	"jϳј\u2149",
	"l\u05d5\u05df\u0627\u07ca\u16c1\u2113\u2d4f\ua4f2\ufe8d\ufe8e\U0001028a\U00010309\U00016f28\U0001ee00\U0001ee80",
	"m\U00011700",
	"nոռ",
	"oοσоօ\u05e1\u0647\u06be\u06c1\u06d5\u0d20\u101d\u10ff\u2134\u2c9f\ufba6\ufba7\ufba8\ufba9\ufbaa\ufbab\ufbac\ufbad\ufee9\ufeea\ufeeb\ufeec\U0001042c\U000104ea\U000118c8\U000118d7\U0001ee24\U0001ee64\U0001ee84",
	"pρϱр\u2ca3",
	"qԛգզ",
	"rг\u1d26\u2c85\uab81",
	"sѕ\uabaa\U00010448\U000118c1",
	"uυս\U000104f6\U000118d8",
	"vνѵ\u05d8\uaba9\U00011706\U000118c0",
	"wѡԝա\uab83\U0001170a\U0001170e\U0001170f",
	"xх\u1541\u157d",
	"yγуү\u10e7\u213d\U000118dc",
	"z\uab93\U000118c4",
)

// likeDigits are letters that pass for a digit: beside digits only.
var likeDigits = lookalikes(
	"2Ϩ\u14bf\ua644",
	"3ЗӠ\u2ccc\U000118ca\U00016f3b",
	"4\u13ce\U000118af",
	"5\U000118bb",
	"6б\u13ee\u2cd2\U000118d5",
	"7\U000104d2\U000118c6",
	"8\U0001031a",
	"9\u2cca\U000118ac\U000118cc\U000118d6",
)

func lookalikes(entries ...string) map[rune]rune {
	out := map[rune]rune{}
	for _, e := range entries {
		for _, r := range e[1:] {
			out[r] = rune(e[0])
		}
	}
	return out
}

// looksLike is the ASCII letter or digit that a letter of another script, or one of those
// that are drawn wide or as a mathematical sign, passes for; 0 for none.
func looksLike(r rune, besideDigits bool) rune {
	switch {
	case likeLetters[r] != 0:
		return likeLetters[r]
	case besideDigits && likeDigits[r] != 0:
		return likeDigits[r]
	case r >= 0xff10 && r <= 0xff5a, r >= 0x1d400 && r <= 0x1d7ff:
		if same := norm.NFKC.String(string(r)); len(same) == 1 {
			return rune(same[0])
		}
	}
	return 0
}

// passesForASCII is the first letter of a value that is no ASCII and passes for it, if all
// that are no Latin ones do: nothing in the value shows that it is of another script. 0 if
// there is none.
func passesForASCII(s string) (first rune) {
	besideDigits := strings.ContainsAny(s, "0123456789")
	for _, r := range s {
		switch {
		case r < 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r):
		case looksLike(r, besideDigits) != 0:
			if first == 0 {
				first = r
			}
		case !unicode.Is(unicode.Latin, r):
			return 0
		}
	}
	return first
}

// letterWords say of a letter what it is, and what it passes for.
func letterWords(r rune) string {
	words := fmt.Sprintf("“%s” is %s (U+%04X)", isolated(string(r)), scriptName(r), r)
	if like := looksLike(r, true); like != 0 {
		words += ", looks like " + string(like)
	}
	return words
}

func scriptName(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			if name == "Common" || name == "Latin" {
				break
			}
			return strings.ReplaceAll(name, "_", " ")
		}
	}
	return "no ASCII"
}
