import KeelStorageFirestore
import Testing

@Suite("JSON of the Firestore protocol")
struct FirestoreJSONTests {
    @Test(
        "the parser accepts valid JSON",
        arguments: [
            ("null", FirestoreJSON.null), (" true\n", true), ("false", false), ("0", .integer(0)),
            ("-0", .number(-0.0)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.5e3", .number(1500)),
            ("1E-2", .number(0.01)), ("5e-324", .number(.leastNonzeroMagnitude)), (#""""#, ""),
            (#""a\"\\\/""#, #"a"\/"#),
            (#""\b\f\n\r\t\u0041""#, "\u{8}\u{c}\n\r\tA"), (#""\ud83d\ude00""#, "😀"),
            ("[]", []), ("[ 1 , [ ] ]", [.integer(1), []]), ("{}", [:]),
            (#"{"a":{"b":null}}"#, ["a": ["b": .null]]),
        ] as [(String, FirestoreJSON)]
    )
    func reads(text: String, value: FirestoreJSON) throws {
        let read = try FirestoreJSON(parsing: Array(text.utf8))
        #expect(read == value)
        let again = try FirestoreJSON(parsing: read.bytes)
        #expect(again == value)
    }

    @Test(
        "the parser rejects invalid JSON with its position",
        arguments: [
            ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("nul", .unexpectedEnd, 3),
            ("01", .badNumber, 2), ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2),
            (".5", .unexpectedByte, 0), ("1e", .unexpectedEnd, 2), ("1e999", .badNumber, 5),
            ("+1", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0),
            (#""a"#, .unexpectedEnd, 2), ("\"a\nb\"", .unexpectedByte, 2),
            (#""\x""#, .badEscape, 3),
            (#""\ud800""#, .badEscape, 7), (#""\udc00""#, .badEscape, 7),
            (#""\ud800\u0041""#, .badEscape, 13), (#""\u00g0""#, .badEscape, 5),
            ("[1,]", .unexpectedByte, 3), ("[1 2]", .unexpectedByte, 3),
            ("{a:1}", .unexpectedByte, 1),
            (#"{"a" 1}"#, .unexpectedByte, 5), (#"{"a":1,}"#, .unexpectedByte, 7),
            ("[1]]", .trailingBytes, 3), ("1 2", .trailingBytes, 2), ("[[[1]]]", .tooDeep, 2),
        ] as [(String, FirestoreJSONError.Reason, Int)]
    )
    func refuses(text: String, reason: FirestoreJSONError.Reason, offset: Int) {
        #expect(throws: FirestoreJSONError(reason: reason, offset: offset)) {
            try FirestoreJSON(parsing: Array(text.utf8), deepest: 2)
        }
    }

    @Test("the parser rejects strings that are not UTF-8")
    func refusesBadUTF8() {
        #expect(throws: FirestoreJSONError(reason: .badUTF8, offset: 1)) {
            try FirestoreJSON(parsing: [0x22, 0xC3, 0x28, 0x22])
        }
    }

    @Test("the parser distinguishes names that differ only in Unicode form")
    func keepsNamesApart() throws {
        let json = try FirestoreJSON(parsing: Array(#"{"\u00e9":1,"e\u0301":2}"#.utf8))
        #expect(json.members?.count == 2)
    }
}
