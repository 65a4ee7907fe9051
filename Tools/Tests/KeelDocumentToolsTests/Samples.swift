import KeelStorage

/// Documents with every kind of value.
enum Samples {
    static let fields: DocumentFields = [
        "null": .null, "true": true, "integer": .integer(.min), "big": .integer(.max),
        "double": 1.5, "whole": .double(3), "zero": .double(-0.0), "nan": .double(.nan),
        "infinity": .double(-.infinity), "tiny": .double(.leastNonzeroMagnitude),
        "time": .timestamp(Timestamp(microseconds: 1_767_225_600_123_456)),
        "old": .timestamp(Timestamp(microseconds: -1)),
        "text": "line\nend\u{0}\"\\ ünïcode 🍣", "bytes": .bytes([0, 255, 10]),
        "reference": .reference("users/ada"),
        "place": .geopoint(GeoPoint(latitude: 40.8, longitude: -73.25)),
        "vector": .vector([0.25, -.infinity]), "array": [1, "a", .null, ["b": 2]],
        "none": .array([]), "empty": .map([:]),
        "map": ["a.b": ["c": true], "é": 1, "e\u{301}": 2],
    ]

    /// A store with documents in two collections and below one.
    static func fill(_ adapter: any StorageAdapter, count: Int = 5) async throws {
        let client = StorageClient(adapter)
        try await client.setDocument("c/every kind", fields)
        for number in 1...count {
            let path: DocumentPath = "c/d\(number)"
            try await client.setDocument(path, ["number": .integer(Int64(number))])
            try await client.setDocument("c/d\(number)/below/x", ["of": .reference(path)])
        }
        try await client.setDocument("other/1", ["a": 1])
    }
}
