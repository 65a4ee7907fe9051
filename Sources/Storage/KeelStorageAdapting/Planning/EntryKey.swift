/// The maximum lengths of the keys of index entries.
///
/// The key of an entry consists of the key of each component of the index, in the component's direction, followed by
/// the key of the document's path. Each part is cut to ``longestComponent`` bytes and the whole key to ``longest``.
/// PostgreSQL's limit for an index row is 2,704 bytes.
///
/// Cutting preserves the order. No key of a value is a prefix of another, so two keys either differ before the point
/// where one of them is cut, or both are cut at that point and are equal up to it. Therefore:
///
/// - A constant that is not cut finds the same entries as among whole keys.
/// - A constant that is cut finds candidates, and the documents themselves decide.
/// - Documents whose keys are cut at the same point after the same bytes form a *tie*: they are adjacent in any order,
///   and ``TiedDocuments`` sorts them.
package enum EntryKey {
    /// The maximum length of the key of one value or path, in bytes: that of a 1,499-byte string, the longest constant
    /// in a condition.
    package static let longestComponent = 1_502
    package static let longest = 2_000

    /// Cuts the part of a key from `start` on; returns whether it was too long.
    @discardableResult
    package static func cutComponent(_ key: inout [UInt8], from start: Int) -> Bool {
        cut(&key, at: start + longestComponent)
    }

    /// Cuts a whole key, or its leading components; returns whether it was too long.
    @discardableResult
    package static func cutWhole(_ key: inout [UInt8]) -> Bool { cut(&key, at: longest) }

    private static func cut(_ key: inout [UInt8], at length: Int) -> Bool {
        guard key.count > length else { return false }
        key.removeSubrange(length...)
        return true
    }
}

extension IndexDefinition {
    /// Appends the key of a document's path, which ends the key of an entry.
    ///
    /// In an index over single collections, this is the id.
    package func append(_ path: DocumentPath, to key: inout [UInt8]) {
        let start = key.count
        if scope == .collection {
            IndexKey.append(id: path.id, to: &key)
        } else {
            IndexKey.append(path: path, to: &key)
        }
        if pathDirection == .descending { IndexKey.complement(&key, from: start) }
        EntryKey.cutComponent(&key, from: start)
        EntryKey.cutWhole(&key)
    }

    /// Returns the concatenated component keys of a document, one for each entry; empty if a field is missing.
    ///
    /// - Returns: The distinct keys, without the key of the path.
    package func componentKeys(
        of body: DocumentBody,
        at paths: [CompiledFieldPath]
    ) -> [[UInt8]] {
        var first: [UInt8] = []
        // Reserves room for the components and the path.
        first.reserveCapacity(96)
        var keys = [first]
        for (component, path) in zip(components, paths) {
            switch component {
            case .contains:
                let elements = Self.cutKeys(body.elementKeys(of: path))
                keys = keys.flatMap { key in elements.map { key + $0 } }
            case .ascending, .descending:
                let start = keys[0].count
                guard body.appendKey(of: path, to: &keys[0]) else { return [] }
                if component.direction == .descending {
                    IndexKey.complement(&keys[0], from: start)
                }
                EntryKey.cutComponent(&keys[0], from: start)
                let added = keys[0][start...]
                for other in keys.indices.dropFirst() { keys[other] += added }
            }
            if keys.isEmpty { return [] }
        }
        var isCut = false
        for index in keys.indices where EntryKey.cutWhole(&keys[index]) { isCut = true }
        return isCut && keys.count > 1 ? Self.distinct(keys) : keys
    }

    private static func cutKeys(_ elements: [[UInt8]]) -> [[UInt8]] {
        guard elements.contains(where: { $0.count > EntryKey.longestComponent }) else {
            return elements
        }
        return distinct(
            elements.map { element in
                var element = element
                EntryKey.cutComponent(&element, from: 0)
                return element
            }
        )
    }

    private static func distinct(_ keys: [[UInt8]]) -> [[UInt8]] {
        var known: Set<[UInt8]> = []
        return keys.filter { known.insert($0).inserted }
    }
}
