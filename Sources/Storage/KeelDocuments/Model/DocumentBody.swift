internal import KeelCBOR

/// The encoded fields of a document, as deterministic CBOR (RFC 8949 section 4.2.1).
///
/// Equal fields have equal bytes. The tags are standard ones:
///
/// | value | CBOR |
/// |---|---|
/// | null, boolean | simple values |
/// | integer, double | integers; floats in the shortest form that keeps the value |
/// | string, bytes | text string, byte string |
/// | timestamp | tag 1001 (RFC 9581): map of seconds (key 1) and, unless 0, microseconds (key -6) |
/// | reference | tag 39 (identifier) on the path as text |
/// | geopoint | tag 103 (geographic coordinates) on [latitude, longitude] |
/// | vector | tag 82 (RFC 8746) on a byte string of big-endian doubles |
/// | array, map | array; map with text keys |
public struct DocumentBody: Sendable, Hashable {
    /// The encoded fields.
    public let bytes: [UInt8]

    /// Creates a body from an encoded set of fields, without validation.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a body by encoding fields.
    public init(_ fields: DocumentFields) {
        var writer = CBORWriter(capacity: 32 * fields.count)
        writer.fields(fields)
        bytes = writer.bytes
    }

    /// The maximum size of a body: 1 MiB (1,048,576 bytes).
    public static let longest = 1_048_576

    /// Decodes all fields.
    ///
    /// - Throws: ``StorageError/Code/corrupted`` if the bytes are not an encoded set of fields.
    public func fields() throws(StorageError) -> DocumentFields {
        var reader = CBORReader(bytes)
        do throws(CBORError) {
            let fields = try reader.readFields()
            try reader.finish()
            return fields
        } catch {
            throw StorageError(.corrupted, "a document’s body cannot be decoded", cause: error)
        }
    }

    package var isSound: Bool { (try? fields()) != nil }

    /// Returns the value of one field, without decoding the others; nil if it is missing or damaged.
    public func value(at field: FieldPath) -> DocumentValue? {
        value(at: CompiledFieldPath(field))
    }

    package func value(at field: CompiledFieldPath) -> DocumentValue? {
        var reader = CBORReader(bytes)
        guard (try? reader.moveToField(field)) == true else { return nil }
        return try? reader.readValue()
    }

    /// Appends the index key of one field.
    ///
    /// - Returns: Whether the field exists and is readable; otherwise `key` is unchanged.
    package func appendKey(of field: CompiledFieldPath, to key: inout [UInt8]) -> Bool {
        var reader = CBORReader(bytes)
        let start = key.count
        do throws(CBORError) {
            guard try reader.moveToField(field) else { return false }
            try IndexKey.append(&reader, to: &key)
            return true
        } catch {
            key.removeSubrange(start...)
            return false
        }
    }

    /// Returns whether a field is missing in both bodies, or has the same bytes in both; false if a body is damaged.
    package func hasSameValue(as other: DocumentBody, at field: CompiledFieldPath) -> Bool {
        var mine = CBORReader(bytes)
        var others = CBORReader(other.bytes)
        do throws(CBORError) {
            let isThere = try mine.moveToField(field)
            guard try others.moveToField(field) == isThere else { return false }
            guard isThere else { return true }
            return bytes[try mine.readItemRange()] == other.bytes[try others.readItemRange()]
        } catch {
            return false
        }
    }

    package func holds(_ encoded: [[UInt8]], at field: CompiledFieldPath) -> Bool {
        var reader = CBORReader(bytes)
        guard (try? reader.moveToField(field)) == true else { return false }
        // CBOR items are self-delimiting, so a field that begins with a whole item is that item.
        return encoded.contains { item in
            let end = reader.position + item.count
            return end <= bytes.count && bytes[reader.position..<end].elementsEqual(item)
        }
    }

    package static func encoded(_ value: DocumentValue) -> [UInt8] {
        var writer = CBORWriter()
        writer.value(value)
        return writer.bytes
    }

    /// Returns the keys of the distinct elements of an array field; empty if the field is not a readable array.
    package func elementKeys(of field: CompiledFieldPath) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        var known: Set<[UInt8]> = []
        let isWhole = eachElementKey(of: field) { key in
            if known.insert(key).inserted { keys.append(key) }
            return true
        }
        return isWhole ? keys : []
    }

    package func containsElement(withKeyIn wanted: [[UInt8]], at field: CompiledFieldPath) -> Bool {
        var isFound = false
        _ = eachElementKey(of: field) { key in
            isFound = wanted.contains(key)
            return !isFound
        }
        return isFound
    }

    private func eachElementKey(of field: CompiledFieldPath, _ take: ([UInt8]) -> Bool) -> Bool {
        var reader = CBORReader(bytes)
        do throws(CBORError) {
            guard try reader.moveToField(field), try reader.peekKind() == .array,
                let count = try reader.readArrayHeader()
            else { return true }
            for _ in 0..<count {
                var key: [UInt8] = []
                try IndexKey.append(&reader, to: &key)
                guard take(key) else { return true }
            }
            return true
        } catch {
            return false
        }
    }

    package func selecting(_ paths: [FieldPath]) -> DocumentBody {
        var selected = DocumentFields()
        // Each of many paths would take a pass over the body.
        if paths.count > 20, let fields = try? self.fields() {
            var found: [(path: FieldPath, value: DocumentValue?)] = []
            for path in paths where !path.isDocumentID {
                if let value = fields[path] { found.append((path: path, value: value)) }
            }
            selected.apply(found)
        } else {
            for path in paths where !path.isDocumentID {
                if let value = value(at: path) { selected[path] = value }
            }
        }
        return DocumentBody(selected)
    }
}
