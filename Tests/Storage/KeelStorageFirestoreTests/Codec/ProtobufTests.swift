import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelConformance

@Suite("Messages in protobuf")
struct ProtobufTests {
    private static let database = "projects/keel/databases/(default)"

    private static func json(_ text: String) throws -> FirestoreJSON {
        try FirestoreJSON(parsing: Array(text.utf8))
    }

    // The bytes are those of protoc.
    @Test(
        "each kind of value has the bytes and the JSON of the specification",
        arguments: [
            ("Value", "58 00", #"{"nullValue":null}"#),
            ("Value", "08 01", #"{"booleanValue":true}"#),
            ("Value", "08 00", #"{"booleanValue":false}"#),
            ("Value", "10 96 01", #"{"integerValue":"150"}"#),
            ("Value", "10 ff ff ff ff ff ff ff ff ff 01", #"{"integerValue":"-1"}"#),
            ("Value", "19 00 00 00 00 00 00 f8 3f", #"{"doubleValue":1.5}"#),
            ("Value", "19 00 00 00 00 00 00 00 00", #"{"doubleValue":0.0}"#),
            ("Value", "19 00 00 00 00 00 00 f0 ff", #"{"doubleValue":"-Infinity"}"#),
            ("Value", "52 02 08 01", #"{"timestampValue":"1970-01-01T00:00:01Z"}"#),
            ("Value", "52 00", #"{"timestampValue":"1970-01-01T00:00:00Z"}"#),
            (
                "Value", "52 11 08 ff ff ff ff ff ff ff ff ff 01 10 f0 b5 9c dc 03",
                #"{"timestampValue":"1969-12-31T23:59:59.998710Z"}"#
            ),
            ("Value", "8a 01 02 c3 a9", #"{"stringValue":"é"}"#),
            ("Value", "8a 01 00", #"{"stringValue":""}"#),
            ("Value", "92 01 01 ff", #"{"bytesValue":"/w=="}"#),
            ("Value", "42 09 09 00 00 00 00 00 00 f8 3f", #"{"geoPointValue":{"latitude":1.5}}"#),
            ("Value", "4a 00", #"{"arrayValue":{}}"#),
            ("Value", "4a 04 0a 02 08 01", #"{"arrayValue":{"values":[{"booleanValue":true}]}}"#),
            (
                "Value", "32 09 0a 07 0a 01 61 12 02 08 01",
                #"{"mapValue":{"fields":{"a":{"booleanValue":true}}}}"#
            ),
            ("StructuredQuery", "2a 02 08 05", #"{"limit":5}"#),
            ("StructuredQuery.Order", "10 02", #"{"direction":"DESCENDING"}"#),
            ("StructuredQuery.Order", "10 09", #"{"direction":9}"#),
            ("TargetChange", "08 01 12 02 02 04", #"{"targetChangeType":"ADD","targetIds":[2,4]}"#),
            ("Precondition", "08 00", #"{"exists":false}"#),
            ("ExecutionStats", "1a 08 08 01 10 80 ca b5 ee 01", #"{"executionDuration":"1.500s"}"#),
        ]
    )
    func forms(type: String, bytes: String, text: String) throws {
        let bytes = bytes.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        let json = try Self.json(text)
        #expect(try FirestoreProtobuf.json(bytes[...], of: type) == json)
        #expect(try FirestoreProtobuf.bytes(json, of: type) == bytes)
    }

    @Test("a document is converted unchanged")
    func documents() throws {
        let encoding = FirestoreEncoding(database: Self.database)
        let decoding = FirestoreDecoding(database: Self.database)
        var source = FuzzSource(seed: SeededRandom.printedSeed(), name: "protobuf")
        for number in 1...500 {
            let document = Document(
                path: source.path(),
                body: DocumentBody(source.fields()),
                revision: Revision(number: Int64(number) * 1_000_001),
                createTime: Timestamp(microseconds: Int64(number)),
                updateTime: Timestamp(microseconds: Int64(number) * 1_000_001)
            )
            let sent = try FirestoreProtobuf.bytes(encoding.document(document), of: "Document")
            let received = try FirestoreProtobuf.json(sent[...], of: "Document")
            #expect(try decoding.document(received) == document)
        }
    }

    @Test("the last value of a choice counts, and messages are merged")
    func merging() throws {
        var writer = ProtobufWriter()
        writer.present(17, "dropped")
        writer.present(2, 7)
        #expect(try FirestoreProtobuf.json(writer.bytes[...], of: "Value") == ["integerValue": "7"])

        writer = ProtobufWriter()
        writer.message(1) { $0.string(1, "name") }
        writer.message(1) { $0.message(2) { $0.string(1, "a") } }
        writer.string(2, "dropped")
        writer.message(1) { $0.message(2) { $0.string(1, "b") } }
        // The choice of `missing` dropped what came before.
        let message = try FirestoreProtobuf.json(writer.bytes[...], of: "BatchGetDocumentsResponse")
        #expect(message == ["found": ["fields": ["b": [:]]]])

        writer = ProtobufWriter()
        writer.message(4) { $0.string(1, "name") }
        writer.message(4) { $0.message(2) { $0.string(1, "a") } }
        #expect(
            try FirestoreProtobuf.json(writer.bytes[...], of: "CreateDocumentRequest")
                == ["document": ["name": "name", "fields": ["a": [:]]]]
        )
    }

    @Test("unknown fields, and known ones of another wire type, are skipped")
    func unknown() throws {
        var writer = ProtobufWriter()
        writer.string(1, "projects/p")
        writer.string(999, "later")
        writer.fixed64(1000, 5)
        writer.varint(1001, 5)
        writer.raw([0xD5, 0x3E, 1, 2, 3, 4])
        writer.varint(2, 5)
        let message = try FirestoreProtobuf.json(writer.bytes[...], of: "BatchGetDocumentsRequest")
        #expect(message == ["database": "projects/p"])
    }

    @Test("numbers of a list may be packed or not")
    func packed() throws {
        let expected: FirestoreJSON = ["targetIds": [.integer(1), .integer(-1), .integer(300)]]
        var apart = ProtobufWriter()
        for number: Int64 in [1, -1, 300] { apart.present(2, UInt64(bitPattern: number)) }
        #expect(try FirestoreProtobuf.json(apart.bytes[...], of: "TargetChange") == expected)
        let packed = try FirestoreProtobuf.bytes(expected, of: "TargetChange")
        #expect(packed.count == apart.bytes.count - 1)
        #expect(try FirestoreProtobuf.json(packed[...], of: "TargetChange") == expected)
    }

    @Test(
        "a malformed message is an error that names its place",
        arguments: [
            ("Document", "0a 05 61", .malformed, "Document", nil),
            ("Document", "0a 01 ff", .badUTF8, "Document", "name"),
            ("Document", "0b", .malformed, "Document", nil),
            ("Document", "00", .malformed, "Document", nil),
            ("Document", "ff ff ff ff ff ff ff ff ff ff ff", .malformed, "Document", nil),
            ("Document", "12 04 12 02 0a 05", .malformed, "Value", nil),
            ("Value", "52 06 10 80 94 eb dc 03", .badTime, "Value", "timestampValue"),
            ("Value", "52 0a 08 ff ff ff ff ff ff ff ff 7f", .badTime, "Value", "timestampValue"),
            ("TargetChange", "12 01 ff", .malformed, "TargetChange", "targetIds"),
            ("Nothing", "", .unknownType, "Nothing", nil),
        ] as [(String, String, FirestoreProtobufError.Reason, String, String?)]
    )
    func refusals(
        type: String,
        bytes: String,
        reason: FirestoreProtobufError.Reason,
        message: String,
        field: String?
    ) {
        let bytes = bytes.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        #expect(throws: FirestoreProtobufError(reason: reason, message: message, field: field)) {
            try FirestoreProtobuf.json(bytes[...], of: type)
        }
    }

    @Test("depth and number of values are limited")
    func limits() throws {
        func nested(_ levels: Int) throws -> [UInt8] {
            var bytes: [UInt8] = []
            for _ in 0..<levels {
                var list = ProtobufWriter()
                list.present(1, bytes)
                var value = ProtobufWriter()
                value.present(9, list.bytes)
                bytes = value.bytes
            }
            return bytes
        }
        _ = try FirestoreProtobuf.json(try nested(49)[...], of: "Value")
        #expect(throws: FirestoreProtobufError(reason: .tooDeep, message: "Value")) {
            try FirestoreProtobuf.json(try nested(50)[...], of: "Value")
        }
        let list = (0..<200).map { $0 % 2 == 0 ? UInt8(0x0A) : 0 }
        _ = try FirestoreProtobuf.json(list[...], of: "ArrayValue", mostValues: 101)
        #expect(throws: FirestoreProtobufError.self) {
            try FirestoreProtobuf.json(list[...], of: "ArrayValue", mostValues: 100)
        }
    }

    @Test("a message whose fields repeat without end takes time in proportion to its size")
    func repetition() throws {
        var bytes: [UInt8] = []
        // Each level repeats the whole field, so that decoding each occurrence twice would take 2⁴⁰ steps.
        for _ in 0..<40 {
            var writer = ProtobufWriter()
            writer.message(9) { $0.message(1) { $0.raw(bytes) } }
            writer.message(9) { _ in }
            bytes = writer.bytes
        }
        _ = try FirestoreProtobuf.json(bytes[...], of: "Value")
    }

    @Test("mutated messages are converted or refused")
    func fuzz() throws {
        let seed = SeededRandom.printedSeed()
        var random = SeededRandom(seed: seed)
        let encoding = FirestoreEncoding(database: Self.database)
        var source = FuzzSource(seed: seed, name: "protobuf-fuzz")
        let query = try Self.json(
            #"""
            {"parent":"\#(Self.database)/documents","structuredQuery":{"from":[{"collectionId":"a"}],
            "where":{"compositeFilter":{"op":"AND","filters":[{"fieldFilter":{"field":{"fieldPath":"n"},
            "op":"EQUAL","value":{"integerValue":"1"}}}]}},"limit":3}}
            """#
        )
        var outcomes = [0, 0]
        for round in 0..<10_000 {
            var bytes: [UInt8]
            let type: String
            if round % 2 == 0 {
                type = "RunQueryRequest"
                bytes = try FirestoreProtobuf.bytes(query, of: type)
            } else {
                type = "CommitRequest"
                let document: FirestoreJSON = [
                    "name": .string(encoding.name(of: source.path())),
                    "fields": encoding.fields(source.fields()),
                ]
                bytes = try FirestoreProtobuf.bytes(
                    ["database": .string(Self.database), "writes": [["update": document]]],
                    of: type
                )
            }
            for _ in 0...Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(position...)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
                default: bytes.insert(contentsOf: bytes[position...].prefix(9), at: position)
                }
            }
            do throws(FirestoreProtobufError) {
                let json = try FirestoreProtobuf.json(bytes[...], of: type, mostValues: 100_000)
                // A message that was decoded can be encoded again.
                let again = try FirestoreProtobuf.bytes(json, of: type)
                let repeated = try FirestoreProtobuf.json(again[...], of: type)
                #expect(repeated == json)
                outcomes[0] += 1
            } catch {
                outcomes[1] += 1
            }
        }
        #expect(outcomes.allSatisfy { $0 > 100 }, "\(outcomes)")
    }
}
