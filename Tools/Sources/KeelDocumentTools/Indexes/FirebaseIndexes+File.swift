extension FirebaseIndexes {
    /// The file's form, as far as Keel reads it.
    struct File: Decodable {
        var indexes: [Index]?
        var fieldOverrides: [Override]?
    }

    /// An index over several fields.
    struct Index: Decodable {
        var collectionGroup: String
        var queryScope: String?
        var fields: [Field]

        /// The index in the words of a message.
        var name: String {
            "\(collectionGroup)(\(fields.map(\.fieldPath).joined(separator: ", ")))"
        }
    }

    /// A field of an index.
    struct Field: Decodable {
        var fieldPath: String
        var order: String?
        var arrayConfig: String?
        var vectorConfig: Vector?
    }

    /// Which indexes a single field has.
    struct Override: Decodable {
        var collectionGroup: String
        var fieldPath: String
        var ttl: Bool?
        var indexes: [Single]?
    }

    /// An index of a single field.
    struct Single: Decodable {
        var order: String?
        var arrayConfig: String?
        var queryScope: String?
        var vectorConfig: Vector?
    }

    /// The settings of a vector index, of which only the presence matters.
    struct Vector: Decodable {}
}
