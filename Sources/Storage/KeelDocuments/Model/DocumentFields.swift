/// The named values of a document or of a map within a document.
///
/// Names are distinguished by their UTF-8 bytes, unlike keys of a `Dictionary`. Fields are sorted as in deterministic
/// CBOR (RFC 8949 section 4.2.1): shorter names first, then by bytes.
public struct DocumentFields: Sendable, Hashable {
    /// A name and its value.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public let name: String
        /// The field's value.
        public var value: DocumentValue

        /// Creates a field.
        public init(_ name: String, _ value: DocumentValue) {
            self.name = name
            self.value = value
        }

        public static func == (left: Self, right: Self) -> Bool {
            StoredName.same(left.name, right.name) && left.value == right.value
        }
    }

    private var sorted: [Field]

    /// Creates an empty set of fields.
    public init() { sorted = [] }

    /// Creates fields from names and values; for a repeated name, the last value wins.
    public init(_ pairs: some Sequence<(String, DocumentValue)>) {
        sorted = []
        let pairs = Array(pairs)
        // Inserted into many, each field would move those behind it. The sort is stable.
        let ordered = pairs.count > 100 ? pairs.sorted { Self.precedes($0.0, $1.0) } : pairs
        sorted.reserveCapacity(pairs.count)
        for (name, value) in ordered { self[name] = value }
    }

    package init(sorted: [Field]) { self.sorted = sorted }

    /// The value of a field; nil if it is missing.
    public subscript(name: String) -> DocumentValue? {
        get {
            let position = position(of: name)
            // Not a ternary, in which `nil` would be the literal of the value null.
            guard holds(name, at: position) else { return nil }
            return sorted[position].value
        }
        set {
            let position = position(of: name)
            switch (holds(name, at: position), newValue) {
            case (true, let value?): sorted[position].value = value
            case (true, nil): sorted.remove(at: position)
            case (false, let value?): sorted.insert(Field(name, value), at: position)
            case (false, nil): break
            }
        }
    }

    /// The value at a path of nested maps; nil if it is missing.
    ///
    /// Setting a value creates the maps on the way, in place of other values. Setting nil removes the field and keeps
    /// its maps.
    public subscript(path: FieldPath) -> DocumentValue? {
        get { self[path.names[...]] }
        set { self[path.names[...]] = newValue }
    }

    private subscript(names: ArraySlice<String>) -> DocumentValue? {
        get {
            guard let name = names.first else { return .map(self) }
            guard names.count > 1 else { return self[name] }
            guard case .map(let inner) = self[name] else { return nil }
            return inner[names.dropFirst()]
        }
        set {
            guard let name = names.first else { return }
            guard names.count > 1 else {
                self[name] = newValue
                return
            }
            var inner = self[name]?.mapValue
            if inner == nil, newValue == nil { return }
            // With one reference, the map is changed in place; with two, all of its fields would be copied.
            self[name] = DocumentValue.null
            inner = inner ?? DocumentFields()
            inner?[names.dropFirst()] = newValue
            self[name] = inner.map(DocumentValue.map)
        }
    }

    /// Sets or removes the values at paths, of which none may contain another, unless it has the value there, too.
    ///
    /// Many are applied in one pass: alone, each would move the fields behind it.
    package mutating func apply(_ changes: [(path: FieldPath, value: DocumentValue?)]) {
        guard changes.count > 100 else {
            for (path, value) in changes { self[path] = value }
            return
        }
        let ordered = changes.sorted { one, other in
            one.path.names.lexicographicallyPrecedes(other.path.names, by: Self.precedes)
        }
        apply(ordered.drop { $0.path.names.isEmpty }, at: 0)
    }

    private mutating func apply(
        _ changes: ArraySlice<(path: FieldPath, value: DocumentValue?)>,
        at level: Int
    ) {
        var result: [Field] = []
        result.reserveCapacity(sorted.count + changes.count)
        var position = 0
        var rest = changes
        while let first = rest.first {
            let name = first.path.names[level]
            let group = rest.prefix { StoredName.same($0.path.names[level], name) }
            rest = rest.dropFirst(group.count)
            while position < sorted.count, Self.precedes(sorted[position].name, name) {
                result.append(sorted[position])
                position += 1
            }
            var value = first.value
            if first.path.names.count > level + 1 {
                value = self[name]
                if value?.mapValue != nil || group.contains(where: { $0.value != nil }) {
                    var inner = value?.mapValue ?? DocumentFields()
                    inner.apply(group, at: level + 1)
                    value = DocumentValue.map(inner)
                }
            }
            if holds(name, at: position) { position += 1 }
            if let value { result.append(Field(name, value)) }
        }
        result += sorted[position...]
        sorted = result
    }

    /// The names of all fields.
    public var names: [String] { sorted.map(\.name) }

    private func position(of name: String) -> Int {
        // Fields mostly arrive in order, so the end is checked before searching.
        guard let last = sorted.last, !Self.precedes(last.name, name) else { return sorted.count }
        var low = 0
        var high = sorted.count - 1
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(sorted[middle].name, name) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    private func holds(_ name: String, at position: Int) -> Bool {
        position < sorted.count && StoredName.same(sorted[position].name, name)
    }

    /// Returns whether `left` precedes `right` in a deterministic encoding.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        let (one, other) = (left.utf8.count, right.utf8.count)
        return one == other ? left.utf8.lexicographicallyPrecedes(right.utf8) : one < other
    }
}

extension DocumentFields: RandomAccessCollection {
    public var startIndex: Int { sorted.startIndex }
    public var endIndex: Int { sorted.endIndex }
    public subscript(position: Int) -> Field { sorted[position] }
}

extension DocumentFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, DocumentValue)...) { self.init(elements) }
}

extension DocumentFields: CustomStringConvertible {
    public var description: String {
        "[" + sorted.map { "\($0.name): \($0.value)" }.joined(separator: ", ") + "]"
    }
}
