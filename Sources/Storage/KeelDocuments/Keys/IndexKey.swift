internal import KeelCBOR

/// Order-preserving keys: bytes whose `memcmp` order is the order of the values.
///
/// A key begins with a byte for the value's kind, and no key is a proper prefix of another, so concatenated keys
/// compare field by field. Complementing every byte gives the descending order, as in FoundationDB's tuple layer.
///
/// - Numbers: integers and doubles share one order. The key is the greatest double that does not exceed the number,
///   followed, from 2^53 on, where doubles skip integers, by the distance to it.
/// - Text and bytes: the bytes, with 0x00 escaped as 0x00 0xFF, followed by 0x00 0x01.
/// - References: the segments like text, followed by 0x00 0x00.
/// - Vectors: the number of elements in four bytes, then eight bytes for each.
/// - Arrays and maps: the keys of elements, or of names and values in name order, followed by 0x00.
package enum IndexKey {
    /// The first byte of a key, in the order of kinds.
    package enum Kind {
        package static let null: UInt8 = 0x05
        package static let boolean: UInt8 = 0x0A
        package static let notANumber: UInt8 = 0x0D
        package static let number: UInt8 = 0x0F
        package static let timestamp: UInt8 = 0x14
        package static let string: UInt8 = 0x19
        package static let bytes: UInt8 = 0x1E
        package static let reference: UInt8 = 0x25
        package static let geopoint: UInt8 = 0x2D
        package static let array: UInt8 = 0x32
        package static let vector: UInt8 = 0x35
        package static let map: UInt8 = 0x37
    }

    package static let null: [UInt8] = [Kind.null]

    package static func key(_ value: DocumentValue) -> [UInt8] {
        var key: [UInt8] = []
        append(value, .ascending, to: &key)
        return key
    }

    package static func append(
        _ value: DocumentValue,
        _ direction: DocumentQuery.Direction,
        to key: inout [UInt8]
    ) {
        let start = key.count
        // A single implementation, on encoded values, keeps the keys of constants and stored fields consistent.
        var writer = CBORWriter()
        writer.value(value)
        var reader = CBORReader(writer.bytes)
        try? append(&reader, to: &key)
        if direction == .descending { complement(&key, from: start) }
    }

    /// Returns the common prefix of the path keys of all documents in a collection, at any depth.
    package static func key(ofAllIn collection: CollectionPath) -> [UInt8] {
        var key: [UInt8] = []
        append(collection, to: &key)
        return key
    }

    /// Returns the id after the key of a collection in a path's key: of the document, or its ancestor in that
    /// collection.
    package static func id(in key: [UInt8], after collection: [UInt8]) -> String? {
        guard key.starts(with: collection) else { return nil }
        var id: [UInt8] = []
        var rest = key[collection.count...]
        while let byte = rest.popFirst() {
            if byte == 0 {
                guard rest.popFirst() == 0xFF else {
                    return String(validating: id, as: UTF8.self)
                }
            }
            id.append(byte)
        }
        return nil
    }

    /// Returns the collections on the path of a key or key prefix, outermost first.
    package static func collections(in key: [UInt8]) -> [CollectionPath] {
        guard key.first == Kind.reference else { return [] }
        var found: [CollectionPath] = []
        var path: [UInt8] = []
        var count = 0
        var rest = key.dropFirst()
        while let byte = rest.popFirst() {
            guard byte == 0 else {
                path.append(byte)
                continue
            }
            switch rest.popFirst() {
            case 0xFF: path.append(0)
            case 1:
                count += 1
                if !count.isMultiple(of: 2) {
                    found.append(CollectionPath(trusted: String(decoding: path, as: UTF8.self)))
                }
                path.append(UInt8(ascii: "/"))
            default: return found
            }
        }
        return found
    }

    package static func append(path: DocumentPath, to key: inout [UInt8]) {
        append(path.collection, to: &key)
        append(id: path.id, to: &key)
    }

    /// Appends the part of a path's key after the key of its collection.
    package static func append(id: String, to key: inout [UInt8]) {
        append(escaping: id.utf8, to: &key)
        appendEnd(ofReference: &key)
    }

    /// Returns the common prefix of the path keys of a document and of all documents below it.
    package static func key(ofAllBelow document: DocumentPath) -> [UInt8] {
        var key = key(ofAllIn: document.collection)
        append(escaping: document.id.utf8, to: &key)
        return key
    }

    private static func append(_ collection: CollectionPath, to key: inout [UInt8]) {
        key.append(Kind.reference)
        // Works byte by byte, because splitting would allocate for every index entry.
        var isInSegment = false
        for byte in collection.string.utf8 {
            if byte != UInt8(ascii: "/") {
                key.append(byte)
                if byte == 0 { key.append(0xFF) }
                isInSegment = true
            } else if isInSegment {
                key.append(0)
                key.append(1)
                isInSegment = false
            }
        }
        if isInSegment {
            key.append(0)
            key.append(1)
        }
    }

    /// Ends a reference with two zeros: with a single zero, the key of a path would be a prefix of a longer path's key.
    static func appendEnd(ofReference key: inout [UInt8]) {
        key.append(0)
        key.append(0)
    }

    /// Complements the bytes from `start` on.
    package static func complement(_ key: inout [UInt8], from start: Int) {
        for index in start..<key.count { key[index] = ~key[index] }
    }

    /// Returns whether two keys belong to values of the same kind; NaN is a separate kind.
    package static func areOfOneKind(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard let first = one.first, let second = other.first else { return false }
        return first == second
    }

    package static func start(ofKindOf key: [UInt8]) -> KeyRange.Cut {
        .before([key.first ?? 0])
    }

    package static func end(ofKindOf key: [UInt8]) -> KeyRange.Cut {
        .after([key.first ?? 0])
    }

    static func append(escaping bytes: some Sequence<UInt8>, to key: inout [UInt8]) {
        for byte in bytes {
            key.append(byte)
            if byte == 0 { key.append(0xFF) }
        }
        key.append(0)
        key.append(1)
    }
}

extension DocumentValue {
    /// Returns whether this value precedes another in the order of queries.
    ///
    /// <doc:Semantics> has the order.
    public func precedes(_ other: DocumentValue) -> Bool {
        IndexKey.key(self).lexicographicallyPrecedes(IndexKey.key(other))
    }

    package func comesAfter(_ other: DocumentValue) -> Bool { other.precedes(self) }

    /// Returns whether queries treat two values as equal, such as 3 and 3.0.
    public func isEquivalent(to other: DocumentValue) -> Bool {
        IndexKey.key(self) == IndexKey.key(other)
    }
}
