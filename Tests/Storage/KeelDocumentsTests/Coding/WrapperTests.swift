import Foundation
import KeelDocuments
import KeelTestKit
import Testing

@Suite("Property wrappers")
struct WrapperTests {
    private struct Note: Codable, Equatable {
        @DocumentID var id: String?
        var text = "hello"
        @ServerTimestamp var changed: Date?
        var meta = Meta()
        struct Meta: Codable, Equatable {
            @ServerTimestamp var seen: Timestamp?
        }
    }

    private func document(_ fields: DocumentFields, _ path: DocumentPath = "notes/n1") -> Document {
        let time = Timestamp(microseconds: 0)
        return Document.stub(path, fields, at: time)
    }

    @Test("A document's id comes from its path and is not a field")
    func documentID() throws {
        let encoder = DocumentEncoder()
        let encoded = try encoder.encodeDocument(Note(id: "n1"))
        #expect(encoded.body == DocumentBody(["text": "hello", "meta": [:]]))
        #expect(encoded.documentID == "n1")
        #expect(DocumentEncoder.documentID(of: Note(id: "n1"), encoded: encoded) == "n1")
        #expect(try encoder.encodeDocument(Note()).documentID == nil)
        let stored = document(["text": "x", "meta": [:], "id": "other"])
        #expect(try DocumentDecoder().decode(Note.self, from: stored).id == "n1")
        let fresh = try DocumentDecoder().decode(Note.self, from: encoded.body, at: "notes/new")
        #expect(fresh.id == "new")
        #expect(try DocumentDecoder().decode(Note.self, from: encoded.body).id == nil)
    }

    @Test("An id has the type of its property")
    func idTypes() throws {
        enum Slug: String, DocumentIDRepresentable { case home }
        struct Keyed<Key: DocumentIDRepresentable>: Codable { @DocumentID var key: Key }
        let uuid = UUID()
        let decoder = DocumentDecoder()
        #expect(try decoder.decode(Keyed<Int>.self, from: document([:], "a/12")).key == 12)
        #expect(try decoder.decode(Keyed<Slug>.self, from: document([:], "a/home")).key == .home)
        let path = DocumentPath("a", uuid.uuidString)
        #expect(try decoder.decode(Keyed<UUID>.self, from: document([:], path)).key == uuid)
        let error = #expect(throws: StorageError.self) {
            try decoder.decode(Keyed<Int>.self, from: document([:], "a/b"))
        }
        #expect(error?.message.contains("the document’s id is not a valid Int") == true)
        #expect(throws: StorageError.self) {
            try decoder.decode(Keyed<Int>.self, from: DocumentBody([:]))
        }
    }

    @Test("A value without the wrapper gets its id from Identifiable")
    func identifiable() throws {
        struct Plain: Codable, Identifiable { var id = 7 }
        let encoded = try DocumentEncoder().encodeDocument(Plain())
        #expect(encoded.body == DocumentBody(["id": 7]))
        #expect(DocumentEncoder.documentID(of: Plain(), encoded: encoded) == "7")
    }

    @Test("An empty server timestamp becomes a transform, at any depth of maps")
    func serverTimestamp() throws {
        let encoded = try DocumentEncoder().encodeDocument(Note())
        #expect(encoded.body == DocumentBody(["text": "hello", "meta": [:]]))
        #expect(
            Set(encoded.transforms) == [
                FieldTransform("changed", .serverTimestamp),
                FieldTransform("meta.seen", .serverTimestamp),
            ]
        )
        var set = Note()
        set.changed = Date(timeIntervalSince1970: 1)
        set.meta.seen = Timestamp(microseconds: 5)
        let written = try DocumentEncoder().encodeDocument(set)
        #expect(written.transforms.isEmpty)
        #expect(written.body.value(at: "changed") == .timestamp(Timestamp(microseconds: 1_000_000)))
        #expect(try DocumentDecoder().decode(Note.self, from: written.body) == set)
        let error = #expect(throws: StorageError.self) {
            try DocumentEncoder().encode(["list": [Note()]])
        }
        #expect(error?.message.contains("cannot be in an array") == true)
    }

    @Test("The wrappers work with JSON")
    func json() throws {
        let empty = try JSONDecoder().decode(Note.self, from: Data(#"{"text":"x","meta":{}}"#.utf8))
        #expect(empty.id == nil && empty.changed == nil)
        let note = Note(id: "n", text: "t", changed: Date(timeIntervalSinceReferenceDate: 3))
        #expect(try JSONDecoder().decode(Note.self, from: JSONEncoder().encode(note)) == note)
    }
}

@Suite("Values of the data model in JSON")
struct ModelInJSONTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("Values have the form of Firestore's REST protocol")
    func form() throws {
        #expect(try json(DocumentValue.integer(3)) == #"{"integerValue":"3"}"#)
        #expect(try json(DocumentValue.double(.nan)) == #"{"doubleValue":"NaN"}"#)
        #expect(try json(DocumentValue.null) == #"{"nullValue":null}"#)
        #expect(try json(DocumentValue.bytes([1, 2])) == #"{"bytesValue":"AQI="}"#)
        let fields: DocumentFields = ["a": [true], "r": .reference("x/y")]
        #expect(
            try json(fields)
                == #"{"a":{"arrayValue":{"values":[{"booleanValue":true}]}},"r":{"referenceValue":"x/y"}}"#
        )
        let time = Timestamp(microseconds: 1_772_368_200_250_000)
        #expect(try json([time]) == #"["2026-03-01T12:30:00.250000Z"]"#)
        #expect(try json([DocumentPath("a/b")]) == #"["a/b"]"#)
    }

    @Test("Times are decoded with any time zone and precision")
    func times() throws {
        let known = [
            ("2026-03-01T12:30:00.25Z", 1_772_368_200_250_000), ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("2026-03-01T14:30:00+02:00", 1_772_368_200_000_000),
            ("2026-03-01T12:30:00.2500009-00:00", 1_772_368_200_250_000),
        ]
        for (text, micros) in known {
            #expect(Timestamp(rfc3339: text) == Timestamp(microseconds: Int64(micros)), "\(text)")
        }
        for text in [
            "", "2026-02-30T00:00:00Z", "2026-03-01", "2026-03-01T25:00:00Z", "2026-03-01T00:00:00",
        ] {
            #expect(Timestamp(rfc3339: text) == nil, "\(text)")
        }
        var generator = SeededRandom(seed: 3)
        for _ in 0..<5000 {
            let word = Int64(bitPattern: generator.next())
            let time = Timestamp(microseconds: word >> Int64.random(in: 0...40, using: &generator))
            #expect(Timestamp(rfc3339: time.rfc3339) == time)
        }
        for time in [Timestamp.earliest, Timestamp(microseconds: .max)] {
            #expect(Timestamp(rfc3339: time.rfc3339) == time)
        }
    }
}
