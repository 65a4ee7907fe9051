extension FirebaseIndexes {
    struct File: Decodable {
        var indexes: [Index]?
        var fieldOverrides: [Override]?
    }

    /// An index over several fields.
    struct Index: Decodable {
        var collectionGroup: String
        var queryScope: String?
        var fields: [Field]

        var name: String {
            "\(collectionGroup)(\(fields.map(\.fieldPath).joined(separator: ", ")))"
        }
    }

    struct Field: Decodable {
        var fieldPath: String
        var order: String?
        var arrayConfig: String?
        var vectorConfig: Vector?
    }

    /// The indexes of a single field.
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
