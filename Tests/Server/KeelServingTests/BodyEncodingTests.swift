import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Encoding document bytes directly as JSON")
struct BodyEncodingTests {
    private static func value(_ depth: Int, _ random: inout SeededRandom) -> DocumentValue {
        let texts = ["", "plain", "\"\\\n\r\t\u{1}\u{7F}", "Zürich \u{2028}🍽", "/"]
        switch Int.random(in: 0..<(depth > 0 ? 13 : 10), using: &random) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &random))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3:
            return .double([0.1, -0.0, .nan, .infinity, 1e300].randomElement(using: &random) ?? 0)
        case 4:
            let range: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999
            return .timestamp(Timestamp(microseconds: Int64.random(in: range, using: &random)))
        case 5: return .string(texts.randomElement(using: &random) ?? "")
        case 6: return .bytes((0..<Int.random(in: 0..<9, using: &random)).map { UInt8($0) })
        case 7: return .reference("a/1/b/ü")
        case 8: return .geopoint(GeoPoint(latitude: 1.5, longitude: -180))
        case 9: return .vector([0.5, -.infinity, .nan])
        case 10, 11: return .map(fields(depth - 1, &random))
        default:
            let count = Int.random(in: 0..<4, using: &random)
            return .array((0..<count).map { _ in .map(fields(depth - 1, &random)) })
        }
    }

    private static func fields(_ depth: Int, _ random: inout SeededRandom) -> DocumentFields {
        let names = ["a", "long name", "é", "\"", "x.y"].shuffled(using: &random)
        return DocumentFields(names.prefix(3).map { ($0, value(depth, &random)) })
    }

    @Test("The text equals that of the encoded message", arguments: [false, true])
    func sameText(isExtended: Bool) throws {
        let seed = UInt64.random(in: 1...9_999_999)
        var random = SeededRandom(seed: seed)
        let encoding = FirestoreEncoding(database: "projects/p/databases/d", isExtended: isExtended)
        for _ in 0..<500 {
            let document = Document(
                path: "a/\"1\"",
                body: DocumentBody(Self.fields(4, &random)),
                revision: Revision(number: 17),
                createTime: Timestamp(microseconds: 1_700_000_000_000_000),
                updateTime: Timestamp(microseconds: 1_700_000_000_123_456)
            )
            var bytes: [UInt8] = []
            try encoding.append(document, to: &bytes)
            let wanted = try encoding.document(document).bytes
            try #require(bytes == wanted, "seed \(seed)")
        }
    }

    @Test("A damaged body is reported as damaged")
    func damaged() throws {
        let encoding = FirestoreEncoding(database: "projects/p/databases/d")
        for body in [[0xA1], [0xA1, 0x61, 0xFF, 0xF6], [0xA0, 0x00], [0x80], []] as [[UInt8]] {
            let document = Document(
                path: "a/1",
                body: DocumentBody(bytes: body),
                revision: Revision(number: 1),
                createTime: Timestamp(microseconds: 0),
                updateTime: Timestamp(microseconds: 0)
            )
            var bytes: [UInt8] = []
            expectError(StorageError.self, .corrupted) { try encoding.append(document, to: &bytes) }
        }
    }

    @Test("A list of documents is not copied for each document")
    func growth() throws {
        let encoding = FirestoreEncoding(database: "projects/p/databases/d")
        let text = String(repeating: "x", count: 400)
        let document = Document.stub(
            "a/1",
            ["text": .string(text)],
            revision: 17,
            at: Timestamp(microseconds: 1)
        )
        var bytes: [UInt8] = []
        var (capacity, moves) = (0, 0)
        for _ in 0..<5_000 {
            try encoding.append(document, to: &bytes)
            if bytes.capacity != capacity { moves += 1 }
            capacity = bytes.capacity
        }
        #expect(moves < 40)
    }
}
