/// The limits of the data model, which the client checks.
package enum DocumentValidation {
    /// The maximum nesting of maps and arrays, without the document itself.
    package static let deepest = 20

    /// Throws ``StorageError/Code/invalidArgument`` for an invalid path or a reserved segment.
    package static func check(_ path: DocumentPath) throws(StorageError) {
        if let flaw = path.flaw { throw StorageError(.invalidArgument, flaw) }
        // Splitting the path is needed only if it may contain a reserved name. Searching the string for “__” would
        // cost more than the other checks together.
        let underscore = UInt8(ascii: "_")
        let mayBeReserved =
            path.id.utf8.contains(underscore) || path.collection.string.utf8.contains(underscore)
        let segments = mayBeReserved ? StoredName.segments(of: path.string) : []
        if segments.contains(where: StoredName.isReserved) {
            throw StorageError(
                .invalidArgument,
                "“\(path)” has a segment of the reserved form “__…__”"
            )
        }
    }

    package static func check(_ fields: DocumentFields, of path: DocumentPath) throws(StorageError)
    {
        try check(.map(fields), at: [], of: path, depth: 0)
    }

    package static func check(
        _ value: DocumentValue,
        in field: FieldPath,
        of path: DocumentPath
    ) throws(StorageError) {
        try check(value, at: field.names, of: path, depth: field.names.count)
    }

    /// Throws ``StorageError/Code/tooLarge`` for a body above the size limit of documents.
    package static func check(_ body: DocumentBody, of path: DocumentPath) throws(StorageError) {
        guard body.bytes.count > DocumentBody.longest else { return }
        throw StorageError(
            .tooLarge,
            "the document “\(path)” has \(body.bytes.count) bytes; the limit is \(DocumentBody.longest)",
            resource: path.string
        )
    }

    private static func check(
        _ value: DocumentValue,
        at place: [String],
        of path: DocumentPath,
        depth: Int
    ) throws(StorageError) {
        let containerCount =
            switch value {
            case .array, .map: depth
            default: depth - 1
            }
        guard containerCount <= deepest else {
            throw invalid("is nested more than \(deepest) deep", place, path)
        }
        switch value {
        case .array(let elements):
            for element in elements {
                if case .array = element {
                    throw invalid(
                        "has an array directly in an array; put the inner one into a map",
                        place,
                        path
                    )
                }
                if case .vector = element {
                    throw invalid(
                        "has a vector directly in an array; put it into a map",
                        place,
                        path
                    )
                }
                try check(element, at: place, of: path, depth: depth + 1)
            }
        case .map(let fields):
            for field in fields {
                if let flaw = FieldPath(names: [field.name]).flaw ?? reserved(field.name) {
                    if field.name == VectorValue.typeName, !place.isEmpty {
                        throw invalid(
                            "is a map with “\(field.name)” and not a vector, whose only other "
                                + "field is “value”, an array of doubles",
                            place,
                            path
                        )
                    }
                    throw StorageError(
                        .invalidArgument,
                        "\(flaw) in “\(path)”",
                        resource: path.string
                    )
                }
                try check(field.value, at: place + [field.name], of: path, depth: depth + 1)
            }
        case .geopoint(let point):
            guard point.isValid else {
                throw invalid("has a latitude or longitude out of range", place, path)
            }
        case .vector(let vector):
            if let flaw = vector.flaw {
                throw invalid("has an invalid vector: \(flaw)", place, path)
            }
        case .reference(let reference):
            if let flaw = reference.flaw {
                throw invalid("has an invalid reference: \(flaw)", place, path)
            }
        default: return
        }
    }

    private static func reserved(_ name: String) -> String? {
        StoredName.isReserved(name) ? "the field name “\(name)” has the reserved form “__…__”" : nil
    }

    private static func invalid(
        _ flaw: String,
        _ place: [String],
        _ path: DocumentPath
    ) -> StorageError {
        StorageError(
            .invalidArgument,
            "the field “\(FieldPath(names: place))” of “\(path)” \(flaw)",
            resource: path.string
        )
    }
}
