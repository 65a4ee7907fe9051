import KeelStorage
import Testing

extension StorageAdapterCheck {
    /// The checks that every value survives exactly, and of the limits of the data model.
    package static let values: [Self] =
        survivors.map { name, value in
            Self(.values, "\(name) is preserved exactly in a field, an array and a map") { store in
                let fields: DocumentFields = ["v": value, "m": ["in": value], "l": wrapped(value)]
                try await store.set(fields)
                #expect(try await store.fields() == fields)
                try await store.update("d", .put("other", 1))
                #expect(try await store.fields()?["v"] == value)
            }
        } + distinctionChecks + limitChecks

    /// Returns a list with the value, wrapped in a map if a list cannot contain it.
    private static func wrapped(_ value: DocumentValue) -> DocumentValue {
        switch value {
        case .array, .vector: [["in": value]]
        default: [value, value]
        }
    }

    private static let survivors: [(String, DocumentValue)] = [
        ("null", .null),
        ("true", true),
        ("false", false),
        ("the integer 0", 0),
        ("a negative integer", -42),
        ("an integer beyond 32 bits", 4_294_967_296),
        ("the integer 2⁵³ + 1, which no double can represent", 9_007_199_254_740_993),
        ("the least integer", .integer(.min)),
        ("the greatest integer", .integer(.max)),
        ("the double 0.0", 0.0),
        ("the double -0.0", .double(-0.0)),
        ("the double 1.0, which is not an integer", 1.0),
        ("the double 0.1", 0.1),
        ("the least positive double", .double(.leastNonzeroMagnitude)),
        ("the greatest finite double", .double(.greatestFiniteMagnitude)),
        ("infinity", .double(.infinity)),
        ("negative infinity", .double(-.infinity)),
        ("NaN", .double(.nan)),
        ("the beginning of 1970", .timestamp(Timestamp(microseconds: 0))),
        ("a microsecond before 1970", .timestamp(Timestamp(microseconds: -1))),
        ("a time with microseconds", .timestamp(Timestamp(microseconds: 1_763_721_296_123_457))),
        ("the earliest time", .timestamp(Timestamp(microseconds: .min))),
        ("the latest time", .timestamp(Timestamp(microseconds: .max))),
        ("the empty string", ""),
        ("a string that contains a NUL", "a\u{0}b"),
        ("a string consisting of a NUL", "\u{0}"),
        ("an emoji of several scalars", "👩‍👩‍👧‍👦🏳️‍🌈"),
        ("an accented letter as one scalar", "caf\u{e9}"),
        ("an accented letter as two scalars", "cafe\u{301}"),
        ("text that looks like SQL", "'; DROP TABLE documents; --"),
        ("a string with line breaks and quotes", "a\r\nb\t\"c\"\\"),
        ("a noncharacter and a private scalar", "\u{FFFF}\u{F8FF}\u{10FFFF}"),
        ("a string of 100,000 bytes", .string(String(repeating: "äb", count: 33_334))),
        ("no bytes", .bytes([])),
        ("all 256 bytes", .bytes(Array(0...255))),
        ("a reference", .reference("users/ada")),
        ("a deeply nested reference", .reference("users/ada/rooms/1/notes/\u{e9} 2")),
        ("the south-west corner of the map", .geopoint(GeoPoint(latitude: -90, longitude: -180))),
        ("a place on earth", .geopoint(GeoPoint(latitude: 52.520008, longitude: 13.404954))),
        ("an empty array", []),
        ("an array of every kind", [.null, true, 1, 1.0, "a", .bytes([1]), ["b": 2]]),
        ("a vector", .vector([0.1, -2, 1e300])),
        ("a vector of special doubles", .vector([.infinity, -.infinity, -0.0, 0])),
        (
            "a vector of 2,048 elements",
            .vector(VectorValue((0..<2_048).map { Double($0) / 3 }))
        ),
        ("an empty map", [:]),
        ("a map with names of every kind", ["a.b": 1, "ä `\\` 👩": 2, "\u{0}": 3, " ": 4]),
    ]

    private static let distinctionChecks: [Self] = [
        Self(.values, "canonically equivalent field names are different fields") { store in
            let fields = DocumentFields([("\u{e9}", 1), ("e\u{301}", 2)])
            try await store.set(fields)
            let read = try #require(try await store.fields())
            #expect(read == fields)
            #expect(read.count == 2)
            #expect(read["e\u{301}"] == 2)
        },
        Self(.values, "field names that differ in case are different fields") { store in
            try await store.set(["a": 1, "A": 2])
            try await store.update("d", .put("A", 3))
            #expect(try await store.fields() == ["a": 1, "A": 3])
        },
        Self(.values, "a string keeps its Unicode form") { store in
            try await store.set(["s": "\u{e9}"])
            let first = try await store.document().revision
            try await store.set(["s": "e\u{301}"])
            let document = try await store.document()
            #expect(document.revision != first)
            #expect(try document.fields()["s"]?.stringValue?.unicodeScalars.count == 2)
        },
        Self(.values, "a vector is not the array of its elements") { store in
            try await store.set(["v": .vector([1, 2]), "l": [1.0, 2.0]])
            let fields = try #require(try await store.fields())
            #expect(fields["v"]?.vectorValue == [1, 2])
            #expect(fields["v"]?.arrayValue == nil)
            #expect(fields["v"]?.mapValue == nil)
            #expect(fields["l"]?.arrayValue == [1.0, 2.0])
        },
        Self(.values, "a document can have 500 fields") { store in
            let fields = DocumentFields((0..<500).map { ("field\($0)", .integer($0)) })
            try await store.set(fields)
            #expect(try await store.fields() == fields)
        },
        Self(.values, "a body is the deterministic encoding of its fields") { store in
            let fields: DocumentFields = ["longer": 1.5, "b": ["z": 1, "a": 2], "a": [1, .null]]
            try await store.set(["b": ["a": 2]])
            try await store.client.mergeDocument(store.path(), fields)
            #expect(try await store.document().body == DocumentBody(fields))
        },
    ]

    private static let limitChecks: [Self] = [
        Self(.values, "a document of exactly 1 MiB is accepted") { store in
            let fields = ofSize(DocumentBody.longest)
            try await store.set(fields)
            #expect(try await store.fields() == fields)
        },
        Self(.values, "a document of 1 MiB and one byte is rejected as tooLarge") {
            store async throws in
            await store.expect(.tooLarge) { try await store.set(ofSize(DocumentBody.longest + 1)) }
            #expect(try await store.fields() == nil)
        },
        Self(.values, "an update that makes a document too large is rejected entirely") { store in
            let fields = ofSize(DocumentBody.longest - 10)
            try await store.set(fields)
            await store.expect(.tooLarge) {
                try await store.update(
                    "d",
                    .put("a", 1),
                    .put("more", .bytes([0, 1, 2, 3, 4, 5, 6]))
                )
            }
            #expect(try await store.fields() == fields)
        },
        Self(.values, "a transform that makes a document too large is rejected entirely") { store in
            let fields = ofSize(DocumentBody.longest - 10)
            try await store.set(fields)
            await store.expect(.tooLarge) {
                try await store.transform("list", .arrayUnion(["more than ten bytes"]))
            }
            #expect(try await store.fields() == fields)
        },
        Self(.values, "a value can be nested 20 levels deep") { store in
            let fields: DocumentFields = ["a": nested(20)]
            try await store.set(fields)
            #expect(try await store.fields() == fields)
        },
        refused("a value nested 21 levels deep") { ["a": nested(21)] },
        refused("an array directly in an array") { ["a": [[1]]] },
        refused("an empty field name") { ["": 1] },
        refused("a field name of the form __…__") { ["m": ["__name__": 1]] },
        refused("a field name of more than 1,500 bytes") {
            [String(repeating: "n", count: 1_501): 1]
        },
        refused("a latitude beyond the pole") {
            ["a": .geopoint(GeoPoint(latitude: 90.1, longitude: 0))]
        },
        refused("a vector of 2,049 elements") {
            ["a": .vector(VectorValue(Array(repeating: 1, count: 2_049)))]
        },
        refused("an empty vector") { ["a": .vector([])] },
        refused("a vector that contains NaN") { ["a": .vector([1, .nan])] },
        refused("a vector directly in an array") { ["a": [.vector([1])]] },
        refused("a map that looks like a vector in Firestore’s protocol") {
            ["a": ["__type__": "__vector__", "value": [1.0]]]
        },
        refused("a reference to a collection") { ["a": .reference("users")] },
    ]

    private static func refused(
        _ what: String,
        _ fields: @escaping @Sendable () -> DocumentFields
    ) -> Self {
        Self(.values, "\(what) is rejected as invalidArgument") { store async throws in
            await store.expect(.invalidArgument) { try await store.set(fields()) }
            await store.expect(.invalidArgument) {
                try await store.client.mergeDocument(store.path(), fields())
            }
            #expect(try await store.fields() == nil)
        }
    }

    private static func nested(_ depth: Int) -> DocumentValue {
        (0..<depth).reduce(1) { inner, _ in ["a": inner] }
    }

    private static func ofSize(_ size: Int) -> DocumentFields {
        let probe = 100_000
        let overhead =
            DocumentBody(["b": .bytes(Array(repeating: 7, count: probe))]).bytes.count - probe
        return ["b": .bytes(Array(repeating: 7, count: size - overhead))]
    }
}
