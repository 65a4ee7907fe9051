extension FirestoreJSON {
    /// How deeply a request may nest: Firestore's 20 levels of values, each some objects of JSON.
    package static let deepest = 128

    /// Reads JSON (RFC 8259).
    ///
    /// - Parameters:
    ///   - bytes: The text, in UTF-8.
    ///   - deepest: How deeply arrays and objects may nest.
    ///   - mostValues: The most values, of which each takes memory, however short its text.
    /// - Throws: `FirestoreJSONError` with the place of the first fault.
    package init(
        parsing bytes: some Collection<UInt8>,
        deepest: Int = FirestoreJSON.deepest,
        mostValues: Int = .max
    ) throws(FirestoreJSONError) {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            Self.parse(buffer, deepest, mostValues)
        }
        let parsed =
            result
            ?? Array(bytes).withUnsafeBufferPointer { Self.parse($0, deepest, mostValues) }
        self = try parsed.get()
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ deepest: Int,
        _ mostValues: Int
    ) -> Result<FirestoreJSON, FirestoreJSONError> {
        var parser = FirestoreJSONParser(bytes, deepest: deepest, mostValues: mostValues)
        return Result { () throws(FirestoreJSONError) in try parser.document() }
    }
}
