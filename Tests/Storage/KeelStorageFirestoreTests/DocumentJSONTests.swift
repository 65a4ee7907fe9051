import KeelStorage
import KeelStorageFirestore
import KeelTestSupport
import Testing

@Suite("Documents as JSON text")
struct DocumentJSONTests {
    private static let fields: DocumentFields = [
        "null": .null, "true": true, "integer": .integer(.max), "whole": .double(3),
        "nan": .double(.nan), "time": .timestamp(Timestamp(microseconds: -1)), "text": "a\u{0}\n🍣",
        "bytes": .bytes([0, 255]), "reference": .reference("users/ada"),
        "place": .geopoint(GeoPoint(latitude: 40.5, longitude: -73)), "array": [1, ["a": .null]],
        "vector": .vector([1, -0.5]),
    ]

    @Test("a typed document is decoded unchanged, including times and revision")
    func typedDocument() throws {
        let document = Document(
            path: "users/ada/notes/1",
            body: DocumentBody(Self.fields),
            revision: Revision(number: 17),
            createTime: Timestamp(microseconds: 1),
            updateTime: Timestamp(microseconds: 1_700_000_000_000_001)
        )
        let text = try DocumentJSON.typed(document)
        let read = try DocumentJSON.document(typed: text).document
        #expect(read == document)
        let again = try read.map { document in try DocumentJSON.typed(document) }
        #expect(again == text)
    }

    @Test("a document of any database is decoded, even without times")
    func otherDatabase() throws {
        let text = """
            {"name": "projects/p/databases/d/documents/a/1",
             "fields": {"r": {"referenceValue": "projects/p/databases/d/documents/b/2"}}}
            """
        let read = try DocumentJSON.document(typed: text.utf8)
        #expect(read.path == "a/1")
        #expect(read.fields == ["r": .reference("b/2")])
        #expect(read.document == nil)
    }

    @Test("a document whose names begin with combining marks is decoded")
    func combiningMarks() throws {
        let text = #"{"name": "projects/p/databases/d/documents/\#u{301}a/\#u{301}1"}"#
        let read = try DocumentJSON.document(typed: text.utf8)
        #expect(read.path == DocumentPath("\u{301}a/\u{301}1"))
    }

    @Test(
        "an invalid typed document is rejected",
        arguments: [
            "", "[]", "{}", #"{"name": "a/1"}"#, #"{"name": "projects/p/databases/d/documents/a"}"#,
            #"{"name": "projects/p/databases/d/documents/a/1", "fields": {"a": 1}}"#,
            #"{"name": "projects/p/databases/d/documents/a/1", "updateTime": "today"}"#,
        ]
    )
    func refusals(_ text: String) {
        expectError(StorageError.self, .invalidArgument) {
            _ = try DocumentJSON.document(typed: text.utf8)
        }
    }

    @Test("plain JSON keeps the values that JSON can express")
    func plain() throws {
        let value: DocumentValue = ["a": [.null, true, 1, 1.5, "x"], "b": .double(2)]
        let read = try DocumentJSON.value(plain: DocumentJSON.plain(value))
        #expect(read == value)
        let text = String(decoding: DocumentJSON.plain(.map(Self.fields)), as: UTF8.self)
        #expect(text.contains(#""time":"1969-12-31T23:59:59.999999Z""#))
        #expect(text.contains(#""place":{"latitude":40.5,"longitude":-73.0}"#))
        #expect(text.contains(#""vector":[1.0,-0.5]"#))
        #expect(text.contains(#""bytes":"AP8=""#))
        #expect(text.contains(#""reference":"users/ada""#))
        #expect(text.contains(#""nan":"NaN""#))
    }

    @Test("typed values are decoded unchanged")
    func typedValues() throws {
        for field in Self.fields {
            let read = try DocumentJSON.value(typed: DocumentJSON.typed(field.value))
            #expect(read == field.value)
        }
    }
}
