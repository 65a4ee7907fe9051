import KeelCore
import Testing

/// A row of RFC 8949 appendix A: an encoding, and the item in diagnostic notation.
///
/// For an indefinite length, shown as `(_ …)` in the appendix, the row has the equivalent definite item, as a tree
/// does.
struct CBORVector: Sendable, CustomTestStringConvertible {
    let hex: String
    let diagnostic: String
    /// Whether the bytes are the shortest, definite encoding, which the writer reproduces.
    let roundTrips: Bool

    init(_ hex: String, _ diagnostic: String, roundTrips: Bool = true) {
        self.hex = hex
        self.diagnostic = diagnostic
        self.roundTrips = roundTrips
    }

    var testDescription: String { "\(hex) is \(diagnostic)" }

    var bytes: [UInt8] { [UInt8](hex: hex) }
}

extension [UInt8] {
    /// Creates the bytes of pairs of hexadecimal digits, ignoring blanks.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] * 16 + digits[$0 + 1])
        }
    }

    var hex: String { Hexadecimal.text(of: self) }
}

extension CBORVector {
    /// All rows of appendix A; RFC 7049 also had `simple(24)`, which RFC 8949 forbids.
    static let appendixA: [Self] = integers + floats + simples + tags + strings + containers

    static let integers: [Self] = [
        Self("00", "0"),
        Self("01", "1"),
        Self("0a", "10"),
        Self("17", "23"),
        Self("1818", "24"),
        Self("1819", "25"),
        Self("1864", "100"),
        Self("1903e8", "1000"),
        Self("1a000f4240", "1000000"),
        Self("1b000000e8d4a51000", "1000000000000"),
        Self("1bffffffffffffffff", "18446744073709551615"),
        Self("c249010000000000000000", "18446744073709551616"),
        Self("3bffffffffffffffff", "-18446744073709551616"),
        Self("c349010000000000000000", "-18446744073709551617"),
        Self("20", "-1"),
        Self("29", "-10"),
        Self("3863", "-100"),
        Self("3903e7", "-1000"),
    ]

    static let floats: [Self] = [
        Self("f90000", "0.0"),
        Self("f98000", "-0.0"),
        Self("f93c00", "1.0"),
        Self("fb3ff199999999999a", "1.1"),
        Self("f93e00", "1.5"),
        Self("f97bff", "65504.0"),
        Self("fa47c35000", "100000.0"),
        Self("fa7f7fffff", "3.4028234663852886e+38"),
        Self("fb7e37e43c8800759c", "1.0e+300"),
        Self("f90001", "5.960464477539063e-8"),
        Self("f90400", "0.00006103515625"),
        Self("f9c400", "-4.0"),
        Self("fbc010666666666666", "-4.1"),
        Self("f97c00", "Infinity"),
        Self("f97e00", "NaN"),
        Self("f9fc00", "-Infinity"),
        Self("fa7f800000", "Infinity", roundTrips: false),
        Self("fa7fc00000", "NaN", roundTrips: false),
        Self("faff800000", "-Infinity", roundTrips: false),
        Self("fb7ff0000000000000", "Infinity", roundTrips: false),
        Self("fb7ff8000000000000", "NaN", roundTrips: false),
        Self("fbfff0000000000000", "-Infinity", roundTrips: false),
    ]

    static let simples: [Self] = [
        Self("f4", "false"),
        Self("f5", "true"),
        Self("f6", "null"),
        Self("f7", "undefined"),
        Self("f0", "simple(16)"),
        Self("f8ff", "simple(255)"),
    ]

    static let tags: [Self] = [
        Self("c074323031332d30332d32315432303a30343a30305a", "0(\"2013-03-21T20:04:00Z\")"),
        Self("c11a514b67b0", "1(1363896240)"),
        Self("c1fb41d452d9ec200000", "1(1363896240.5)"),
        Self("d74401020304", "23(h'01020304')"),
        Self("d818456449455446", "24(h'6449455446')"),
        Self(
            "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
            "32(\"http://www.example.com\")"
        ),
    ]

    static let strings: [Self] = [
        Self("40", "h''"),
        Self("4401020304", "h'01020304'"),
        Self("60", "\"\""),
        Self("6161", "\"a\""),
        Self("6449455446", "\"IETF\""),
        Self("62225c", "\"\\\"\\\\\""),
        Self("62c3bc", "\"\u{fc}\""),
        Self("63e6b0b4", "\"\u{6c34}\""),
        Self("64f0908591", "\"\u{10151}\""),
        Self("5f42010243030405ff", "h'0102030405'", roundTrips: false),
        Self("7f657374726561646d696e67ff", "\"streaming\"", roundTrips: false),
    ]

    static let containers: [Self] = [
        Self("80", "[]"),
        Self("83010203", "[1, 2, 3]"),
        Self("8301820203820405", "[1, [2, 3], [4, 5]]"),
        Self(
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
            "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
                + "23, 24, 25]"
        ),
        Self("a0", "{}"),
        Self("a201020304", "{1: 2, 3: 4}"),
        Self("a26161016162820203", "{\"a\": 1, \"b\": [2, 3]}"),
        Self("826161a161626163", "[\"a\", {\"b\": \"c\"}]"),
        Self(
            "a56161614161626142616361436164614461656145",
            "{\"a\": \"A\", \"b\": \"B\", \"c\": \"C\", \"d\": \"D\", \"e\": \"E\"}"
        ),
        Self("9fff", "[]", roundTrips: false),
        Self("9f018202039f0405ffff", "[1, [2, 3], [4, 5]]", roundTrips: false),
        Self("9f01820203820405ff", "[1, [2, 3], [4, 5]]", roundTrips: false),
        Self("83018202039f0405ff", "[1, [2, 3], [4, 5]]", roundTrips: false),
        Self("83019f0203ff820405", "[1, [2, 3], [4, 5]]", roundTrips: false),
        Self(
            "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
            "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
                + "23, 24, 25]",
            roundTrips: false
        ),
        Self("bf61610161629f0203ffff", "{\"a\": 1, \"b\": [2, 3]}", roundTrips: false),
        Self("826161bf61626163ff", "[\"a\", {\"b\": \"c\"}]", roundTrips: false),
        Self("bf6346756ef563416d7421ff", "{\"Fun\": true, \"Amt\": -2}", roundTrips: false),
    ]

    /// Appendix F: bytes that are not well-formed, by reason.
    static let malformed: [String] = [
        // The input ends in a head.
        "", "18", "19", "1a", "1b", "1901", "1a0102", "1b01020304050607", "38", "58", "78", "98",
        "9a01ff00", "b8", "d8", "f8", "f900", "fa0000", "fb000000",
        // Definite strings with too few bytes.
        "41", "61", "5affffffff00", "5bffffffffffffffff010203", "7affffffff00",
        "7b7fffffffffffffff010203",
        // Definite arrays and maps with too few items.
        "81", "818181818181818181", "8200", "a1", "a20102", "a100", "a2000000",
        // A tag without its content.
        "c0",
        // Indefinite strings, arrays and maps without a break.
        "5f4100", "7f6100", "9f", "9f0102", "bf", "bf01020102", "819f", "9f8000",
        "9f9f9f9f9fffffffff",
        "9f819f819f9fffffff",
        // Reserved additional information.
        "1c", "1d", "1e", "3c", "3d", "3e", "5c", "5d", "5e", "7c", "7d", "7e", "9c", "9d", "9e",
        "bc", "bd", "be", "dc", "dd", "de", "fc", "fd", "fe",
        // Two-byte simple values below 32.
        "f800", "f801", "f818", "f81f",
        // Chunks of another type, or with an indefinite length.
        "5f00ff", "5f21ff", "5f6100ff", "5f80ff", "5fa0ff", "5fc000ff", "5fe0ff", "7f4100ff",
        "5f5f4100ffff", "7f7f6100ffff",
        // A break by itself, in definite containers, after a tag, or after a key.
        "ff", "81ff", "8200ff", "a1ff", "a1ff00", "a100ff", "a20000ff", "9f81ff",
        "9f829f819f9fffffffff",
        "bf00ff", "bf000000ff", "c0ff",
        // Indefinite lengths where they are not allowed.
        "1f", "3f", "df",
    ]
}
