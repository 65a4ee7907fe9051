/// The lengths at which the keys of index entries are cut.
///
/// An entry's key is the key of each component of the index, in the component's direction, and behind
/// them that of the document's path. Each of them is cut at ``longestComponent`` bytes, and all of them
/// together at ``longest``: every database takes such a key into an index of its own, PostgreSQL too,
/// whose limit is 2,704 bytes for a row of an index.
///
/// Cutting keeps the order. No key of a value begins another, so two keys differ before the place where
/// one of them is cut, or both are cut there and are equal up to it. Therefore
///
/// - a constant that is not cut finds in an index what it would find among whole keys;
/// - a constant that is cut finds candidates, and the documents themselves decide;
/// - documents whose keys are cut at the same place after the same bytes are a *tie*: they follow each
///   other in any order, and ``TiedDocuments`` puts them into theirs.
package enum EntryKey {
    /// The most bytes of the key of one value or path: those of a text of 1,499 bytes, the longest
    /// constant that a condition may have.
    package static let longestComponent = 1_502
    /// The most bytes of a whole key.
    package static let longest = 2_000

    /// Cuts the key that begins at `start` and reaches to the end.
    ///
    /// - Returns: Whether there was anything to cut.
    @discardableResult
    package static func cutComponent(_ key: inout [UInt8], from start: Int) -> Bool {
        cut(&key, at: start + longestComponent)
    }

    /// Cuts a whole key, or the components that begin one.
    ///
    /// - Returns: Whether there was anything to cut.
    @discardableResult
    package static func cutWhole(_ key: inout [UInt8]) -> Bool { cut(&key, at: longest) }

    private static func cut(_ key: inout [UInt8], at length: Int) -> Bool {
        guard key.count > length else { return false }
        key.removeSubrange(length...)
        return true
    }
}

extension IndexDefinition {
    /// Appends the key of a document's path, as the index's entries end with it.
    ///
    /// The entries of an index over single collections hold the id alone: the collection is beside them.
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

    /// The joined keys of the components of a document, one for each entry; empty if a field is missing.
    ///
    /// - Parameters:
    ///   - body: The document's fields.
    ///   - paths: The fields of the index's components, compiled.
    /// - Returns: The keys, each once, without those of the path.
    package func componentKeys(
        of body: DocumentBody,
        at paths: [CompiledFieldPath]
    ) -> [[UInt8]] {
        var first: [UInt8] = []
        // Room for the components and the path that follows them.
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

    /// The keys of distinct elements, cut, each once.
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
