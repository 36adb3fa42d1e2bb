"""The verifiers agree: a thousand generated receipts, a mutant of each, and every forgery of
one member that a signer can make, by the generator of internal/evidence/receipt."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from support.binary import REPOSITORY

from countersign.receipt import ed25519, verify_receipt
from countersign.receipt.canonical import Digits, canonical
from countersign.receipt.failure import Failure
from countersign.receipt.folding import folded
from countersign.receipt.gaterules import judge
from countersign.receipt.moment import moment
from countersign.receipt.values import encoded, plain_number, same_body, same_query


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Receipts with Go's verdicts, a line each: too many to hold at once."""
    target = tmp_path_factory.mktemp("receipts") / "cases"
    command = ["go", "test", "./internal/evidence/receipt", "-vet=off", "-count=1", "-run", "^TestMutants", "-write", str(target)]
    subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    return target


def played(corpus: Path) -> Iterator[Any]:
    """All that were generated: of the forgeries a share that is drawn anew each time, all of them with COUNTERSIGN_ALL set."""
    with corpus.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def a_good_one(corpus: Path) -> Any:
    return next(case for case in played(corpus) if case["verdict"]["ok"])


def ours(case: Any) -> dict[str, Any]:
    """Our verdict in the words of Go's."""
    asked = {name: case[name] for name in ("witnesses", "quorum", "epoch") if name in case}
    verdict = verify_receipt(base64.b64decode(case["file"]), case["key"], case.get("answerKeys", ()), **asked)
    if verdict.told is None:
        return {"ok": verdict.ok, "section": verdict.section, "unknownFormat": verdict.unknown_format}
    told = {name: value for name, value in asdict(verdict.told).items() if name != "cosigned" or value is not None}
    words = camel({"ok": verdict.ok, "public_key": verdict.public_key, "key_id": verdict.key_id, "origin": verdict.origin, **told})
    answers = [{name: value for name, value in camel(answer).items() if value != 0} for answer in words.pop("answers")]
    unshown = words.pop("unshown")
    return words | ({"answers": answers} if answers else {}) | ({"unshown": unshown} if unshown else {})


def camel(words: dict[str, Any]) -> dict[str, Any]:
    return {re.sub(r"_(.)", lambda found: found[1].upper(), name): value for name, value in words.items()}


def test_both_verifiers_come_to_the_same_verdict_and_name_the_same_section(corpus: Path) -> None:
    good = bad = 0
    for case in played(corpus):
        want = case["verdict"]
        want = want if want["ok"] else {"ok": False, "section": want["section"], "unknownFormat": want.get("unknownFormat", "")}
        assert ours(case) == want, case["how"]
        good, bad = good + want["ok"], bad + (not want["ok"])
    assert good >= 1000 and bad > 1500


def test_a_receipt_of_another_key_fails_and_without_a_key_only_integrity_is_judged(corpus: Path) -> None:
    case = a_good_one(corpus)
    file, key = base64.b64decode(case["file"]), case["key"]
    other = ("1" if key[0] == "0" else "0") + key[1:]
    assert (verify_receipt(file, other).ok, verify_receipt(file, other).section) == (False, "signature")
    verdict = verify_receipt(file)
    assert (verdict.ok, verdict.origin, verdict.public_key) == (True, False, key)
    with pytest.raises(ValueError):
        verify_receipt(file, key.upper())


def test_of_a_format_that_it_does_not_know_it_says_so_and_not_that_the_receipt_fails(corpus: Path) -> None:
    case = a_good_one(corpus)
    later = re.sub(rb"countersign-receipt/[12]", b"countersign-receipt/3", base64.b64decode(case["file"]), count=1)
    verdict = verify_receipt(later, case["key"])
    assert (verdict.ok, verdict.section, verdict.unknown_format) == (False, "contents", "countersign-receipt/3")


def test_the_rules_mean_the_same_to_all_verifiers() -> None:
    lines = (REPOSITORY / "internal/rules/gate/testdata/cases.jsonl").read_text().splitlines()
    for line in lines:
        case = json.loads(line, parse_int=lambda n: Digits(plain_number(n)), parse_float=lambda n: Digits(plain_number(n)))
        for edition, want in ((3, case["now"]), (0, case["before"])):
            said = judge(edition, case["rules"], case["asks"], case["input"], case["open"])
            assert (said.then, said.approvals, said.groups) == (want["then"], int(want["approvals"].text), want["groups"]), case["name"]
    assert len(lines) > 30


def test_names_fold_by_the_table_of_all_verifiers() -> None:
    lines = (REPOSITORY / "internal/rules/folded/testdata/folds.txt").read_text().splitlines()[1:]
    folds: dict[int, int] = {}
    for first, last, step, added in (map(int, line.split(" ")) for line in lines):
        folds |= {letter: letter + added for letter in range(first, last + 1, step)}
    for letter in range(0x110000):
        assert folded(chr(letter)) == chr(folds.get(letter, letter)), hex(letter)


def test_every_single_byte_that_is_altered_is_seen(corpus: Path) -> None:
    file = base64.b64decode(a_good_one(corpus)["file"])
    for at in range(0, len(file), 17):
        assert not verify_receipt(file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]).ok
    for cut in (b"", file[:-1], file + b" ", file[1:]):
        assert not verify_receipt(cut).ok


def test_both_verifiers_take_times_of_one_form() -> None:
    lines = (REPOSITORY / "internal/evidence/receipt/testdata/times.txt").read_text().splitlines()
    for line in lines:
        if not line.startswith("#"):
            kind, _, value = line.partition(" ")
            assert (moment(value) != "") == (kind == "good"), line


@pytest.mark.parametrize(
    ("number", "plain"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0.0e5", "0"),
        ("1.50", "15e-1"),
        ("100", "100"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e21"),
        ("-12.000e-3", "-12e-3"),
        ("1E+400", "1e400"),
        ("0.010", "1e-2"),
        ("1e-" + "0" * 50 + "3", "1e-3"),
    ],
)
def test_numbers_have_one_spelling(number: str, plain: str) -> None:
    assert plain_number(number) == plain


def test_texts_have_one_spelling() -> None:
    assert encoded('C:\\bin \b\f\n\r\t\x1f"é\u2028') == '"C:\\\\bin \\u0008\\u000c\\n\\r\\t\\u001f\\"é\u2028"'


@pytest.mark.parametrize("escape", ["\\\\", '\\"', "\\n", "\\r", "\\t", "\\u0000", "\\u0008", "\\u000b", "\\u001f", "\\\\u000a"])
def test_what_must_be_escaped_is_read(escape: str) -> None:
    assert canonical(f'["a{escape}b"]'.encode(), "run") == json.loads(f'["a{escape}b"]')


@pytest.mark.parametrize("text", ["\\b", "\\/", "\\u000a", "\\u0009", "\\u000d", "\\u001F", "\\u0020", "\\u00e9", "\\ud800", "\\x", "\\", "\n", "\x1f"])
def test_what_need_not_be_escaped_or_is_escaped_otherwise_is_refused(text: str) -> None:
    with pytest.raises(Failure):
        canonical(f'"a{text}b"'.encode(), "run")


def test_a_body_is_compared_by_its_exact_values() -> None:
    assert same_body({"a": [], "b": "\ufffd"}, ' {"b": "\\ud800", "a": [ ] } ')
    for sent in ("{", "NaN", "[" * 10_000, "1e" + "9" * 5000, '{"a":1}'):
        assert not same_body({}, sent)


def test_a_query_is_compared_by_what_its_escapes_mean() -> None:
    assert same_query({"é": "a b+", "x": ""}, "/p?%C3%A9=a%20b+&x")
    for address in ("/p?x=%", "/p?x=%zz", "/p?x=%ff", "/p?x=1&x=1", "/p", "/p?y=1"):
        assert not same_query({"x": "1"}, address)


# RFC 8032, section 7.1
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_ed25519_takes_the_signatures_of_its_specification_and_no_others(key: str, message: str, signature: str) -> None:
    public, text, signed = bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)
    assert ed25519.verify(public, text, signed)
    assert not ed25519.verify(public, text + b"x", signed)
    for at in range(0, 64, 9):
        assert not ed25519.verify(public, text, signed[:at] + bytes([signed[at] ^ 4]) + signed[at + 1 :])
    order = 2**252 + 27742317777372353535851937790883648493
    again = (int.from_bytes(signed[32:], "little") + order).to_bytes(32, "little")
    assert not ed25519.verify(public, text, signed[:32] + again)  # the same signature, spelled otherwise
    assert not ed25519.verify(b"\xff" * 31 + b"\x7f", text, signed) and not ed25519.verify(public, text, signed[:63])
    assert not ed25519.verify(bytes([2]) + bytes(31), text, signed)  # no point has this y


def test_a_key_of_small_order_is_no_key() -> None:
    identity = bytes([1]) + bytes(31)
    anything = bytes([0x58]) + b"\x66" * 31 + identity  # good for any text by the neutral element
    listed = (REPOSITORY / "internal/evidence/receipt/testdata/smallorder.txt").read_text().splitlines()
    for key in [line for line in listed if not line.startswith("#")]:
        assert not ed25519.verify(bytes.fromhex(key), b"any text", anything), key
