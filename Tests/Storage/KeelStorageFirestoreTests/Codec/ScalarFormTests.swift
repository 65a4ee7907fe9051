import KeelCore
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelConformance

@Suite("Encoding of times, bytes and names")
struct ScalarFormTests {
    @Test(
        "a time is encoded as in RFC 3339",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:00.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"), (120_000, "1970-01-01T00:00:00.120Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00Z"),
            (-2_203_891_200_000_000, "1900-03-01T00:00:00Z"),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00Z"),
            (-62_135_596_800_000_001, "+000000-12-31T23:59:59.999999Z"),
            (-62_198_755_200_000_000, "-000001-01-01T00:00:00Z"),
            (.max, "+294247-01-10T04:00:54.775807Z"), (.min, "-290308-12-21T19:59:05.224192Z"),
        ] as [(Int64, String)]
    )
    func times(microseconds: Int64, text: String) {
        let time = Timestamp(microseconds: microseconds)
        #expect(FirestoreTime.text(of: time) == text)
        #expect(FirestoreTime.time(of: text) == time)
    }

    @Test("any time is decoded unchanged")
    func anyTime() {
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        let usual: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999
        for range in [usual, Int64.min...Int64.max] {
            for _ in 0..<3000 {
                let time = Timestamp(microseconds: Int64.random(in: range, using: &random))
                #expect(FirestoreTime.time(of: FirestoreTime.text(of: time)) == time)
            }
        }
    }

    @Test(
        "a time in another format is decoded",
        arguments: [
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T19:00:00-05:00", 0),
            ("1970-01-01t00:00:00.5z", 500_000),
            ("1970-01-01T00:00:00.123456789Z", 123_456),
        ] as [(String, Int64)]
    )
    func otherForms(text: String, microseconds: Int64) {
        #expect(FirestoreTime.time(of: text) == Timestamp(microseconds: microseconds))
    }

    @Test(
        "an invalid time is not decoded",
        arguments: [
            "", "1970-01-01", "1970-01-01T00:00:00", "1970-02-30T00:00:00Z",
            "0000-01-01T00:00:00Z", "1970-13-01T00:00:00Z", "1970-01-01T24:00:00Z",
            "+294248-01-01T00:00:00Z", "-000000-01-01T00:00:00Z", "+10000-01-01T00:00:00Z",
            "+999999-12-31T23:59:59Z", "-999999-01-01T00:00:00Z", "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.1234567890Z", "1970-01-01T00:00:00Z ",
        ]
    )
    func refusedTimes(text: String) { #expect(FirestoreTime.time(of: text) == nil) }

    @Test("bytes are decoded unchanged in both alphabets and without padding")
    func base64() {
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Base64.encode(bytes)
            #expect(Base64.decode(text) == bytes)
            #expect(Base64.decode(text.filter { $0 != "=" }) == bytes)
            let urlText = Base64.encodeForURL(bytes)
            #expect(!urlText.contains { "+/=".contains($0) })
            #expect(Base64.decode(urlText) == bytes)
        }
    }

    @Test(
        "text that is not Base64 is not decoded",
        arguments: ["a", "a b=", "====", "=", "AQ=", "A===", "=AQ=", "AQ==AQ==", "é"]
    )
    func refusedBase64(text: String) { #expect(Base64.decode(text) == nil) }

    @Test("any field path is decoded unchanged")
    func fieldPaths() throws {
        let decoding = FirestoreDecoding(database: "d")
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        let pieces = ["a", "B", "_", "0", ".", "`", "\\", " ", "\u{e9}", "e\u{301}", "\u{1f600}"]
        for _ in 0..<2000 {
            let names = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                (0..<Int.random(in: 1...5, using: &random))
                    .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }
                    .joined()
            }
            let field = FieldPath(names: names)
            guard field.flaw == nil else { continue }
            #expect(try decoding.field(field.description) == field)
        }
    }

    @Test("any document name is decoded unchanged")
    func documentNames() throws {
        let encoding = FirestoreEncoding(database: "projects/p/databases/(default)")
        let decoding = FirestoreDecoding(database: "projects/p/databases/(default)")
        var source = FuzzSource(seed: SeededRandom.printedSeed(), name: "fuzz")
        for _ in 0..<500 {
            let path = source.path()
            #expect(try decoding.path(of: encoding.name(of: path)) == path)
        }
        #expect(try decoding.parent(of: encoding.root) == nil)
    }
}
