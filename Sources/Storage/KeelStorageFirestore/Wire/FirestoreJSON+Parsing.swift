extension FirestoreJSON {
    /// The nesting limit of requests: Firestore's 20 levels of values, each of which takes several JSON objects.
    package static let deepest = 128

    /// Parses JSON (RFC 8259).
    ///
    /// - Parameters:
    ///   - bytes: The text, in UTF-8.
    ///   - deepest: The nesting limit of arrays and objects.
    ///   - mostValues: The maximum number of values, because each takes memory even if its text is short.
    /// - Throws: `FirestoreJSONError` with the position of the first fault.
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
