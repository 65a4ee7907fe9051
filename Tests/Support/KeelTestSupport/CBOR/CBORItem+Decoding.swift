package import KeelCBOR

extension CBORItem {
    /// Decodes the only item in `bytes`, of definite or indefinite length.
    ///
    /// Text must be UTF-8; repeated map keys are kept.
    package init(decoding bytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(bytes)
        self = try reader.readItem()
        try reader.finish()
    }

    /// An array, map or tag whose contents are being read.
    fileprivate struct Unfinished {
        enum Shape {
            case array, map
            case tag(UInt64)
        }
        let shape: Shape
        /// The number of missing items, counting keys and values separately; nil until a break.
        var missing: Int?
        var items: [CBORItem] = []

        /// The count is untrusted, so only a plausible capacity is reserved.
        init(_ shape: Shape, missing: Int?) {
            self.shape = shape
            self.missing = missing
            items.reserveCapacity(min(missing ?? 0, 256))
        }

        /// Adds the next item, and returns whether it was the last one.
        mutating func take(_ item: CBORItem) -> Bool {
            items.append(item)
            guard let missing else { return false }
            self.missing = missing - 1
            return missing == 1
        }

        /// Whether a break may follow: in an indefinite container, but not after a key without a value.
        var mayEnd: Bool {
            guard missing == nil else { return false }
            if case .map = shape { return items.count.isMultiple(of: 2) }
            return true
        }

        var item: CBORItem {
            switch shape {
            case .array: .array(items)
            case .map:
                .map(
                    stride(from: 0, to: items.count, by: 2).map {
                        CBORItem.Entry(items[$0], items[$0 + 1])
                    }
                )
            case .tag(let number): .tagged(number, items[0])
            }
        }
    }
}

extension CBORReader {
    /// Reads a whole item as a tree, with the limits of ``skip()``.
    package mutating func readItem() throws(CBORError) -> CBORItem {
        var copy = self
        let item = try copy.readTree()
        position = copy.position
        return item
    }

    /// Reads a tree with an explicit stack, so that nesting does not use the stack of the thread.
    private mutating func readTree() throws(CBORError) -> CBORItem {
        var stack: [CBORItem.Unfinished] = []
        while true {
            let start = position
            var done: CBORItem?
            if let opened = try readOpening() {
                guard stack.count < Self.nestingLimit else {
                    throw CBORError(.nestingTooDeep, at: start)
                }
                if opened.missing == 0 { done = opened.item } else { stack.append(opened) }
            } else if readBreakIfPresent() {
                guard let last = stack.popLast(), last.mayEnd else {
                    throw CBORError(.malformed, at: start)
                }
                done = last.item
            } else {
                done = try readScalar()
            }
            // Pass the item to its container, which it may complete in turn.
            while let item = done {
                guard !stack.isEmpty else { return item }
                let isLast = stack[stack.count - 1].take(item)
                done = isLast ? stack.popLast()?.item : nil
            }
        }
    }

    /// Reads the head of an array, map or tag, or returns nil before anything else.
    private mutating func readOpening() throws(CBORError) -> CBORItem.Unfinished? {
        switch try peekKind() {
        case .array: .init(.array, missing: try readArrayHeader())
        case .map: .init(.map, missing: try readMapHeader().map { $0 * 2 })
        case .tag: .init(.tag(try readTag()), missing: 1)
        default: nil
        }
    }

    /// Reads an item that contains no other.
    private mutating func readScalar() throws(CBORError) -> CBORItem {
        switch try peekKind() {
        case .unsigned: return .unsigned(try readUnsigned())
        case .negative: return .negative(try readNegative())
        case .bytes: return .bytes(try readByteString())
        case .text: return .text(try readText())
        case .boolean: return .boolean(try readBoolean())
        case .float: return .float(try readDouble())
        case .null:
            try readNull()
            return .null
        case .undefined:
            _ = try readSimple()
            return .undefined
        case .simple: return .simple(try readSimple())
        case .array, .map, .tag, .break: throw CBORError(.malformed, at: position)
        }
    }
}
