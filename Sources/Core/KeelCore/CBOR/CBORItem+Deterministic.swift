extension CBORItem {
    /// Returns whether `bytes` are one item in the deterministic encoding of RFC 8949 section 4.2.1.
    ///
    /// Heads and floats have their shortest form, lengths are definite, and the keys of each map are unique and in
    /// bytewise order of their encodings. In addition, text must be UTF-8 and NaN must be `f97e00` (section 4.2.2), so
    /// the result tells whether ``CBORWriter`` would write these bytes.
    package static func isDeterministic(_ bytes: [UInt8]) -> Bool {
        var reader = CBORReader(bytes)
        do throws(CBORError) {
            // The check below is recursive, so first run the traversal that limits nesting.
            try reader.skip()
            try reader.finish()
            return try CBORReader(bytes).endOfDeterministicItem(at: 0) == bytes.endIndex
        } catch {
            return false
        }
    }
}

extension CBORReader {
    /// Returns the index after the item at `index`, or nil if it is not deterministic.
    fileprivate func endOfDeterministicItem(at index: Int) throws(CBORError) -> Int? {
        let head = try head(at: index)
        guard !head.isIndefinite else { return nil }
        if head.majorType == 7 {
            return isShortest(sevenAt: index, head) ? head.end : nil
        }
        guard head.end - index == Self.shortestHead(head.argument) else { return nil }
        switch head.majorType {
        case 0, 1: return head.end
        case 2: return try payload(head).upperBound
        case 3:
            let range = try payload(head)
            return isUTF8(range) ? range.upperBound : nil
        case 4:
            var end = head.end
            for _ in 0..<(try itemCount(head, bytesEach: 1)) {
                guard let next = try endOfDeterministicItem(at: end) else { return nil }
                end = next
            }
            return end
        case 5: return try endOfDeterministicMap(head)
        default: return try endOfDeterministicItem(at: head.end)
        }
    }

    /// Returns the index after a map's pairs, whose keys must be ascending.
    private func endOfDeterministicMap(_ head: CBORHead) throws(CBORError) -> Int? {
        var end = head.end
        var last: Range<Int>?
        for _ in 0..<(try itemCount(head, bytesEach: 2)) {
            guard let keyEnd = try endOfDeterministicItem(at: end) else { return nil }
            let key = end..<keyEnd
            if let last, !bytes[last].lexicographicallyPrecedes(bytes[key]) { return nil }
            guard let next = try endOfDeterministicItem(at: keyEnd) else { return nil }
            last = key
            end = next
        }
        return end
    }

    /// Returns whether an item of major type 7 equals the writer's output for its value.
    private func isShortest(sevenAt index: Int, _ head: CBORHead) -> Bool {
        guard 0xf9...0xfb ~= head.initial else { return true }
        var reader = self
        reader.position = index
        guard let value = try? reader.readDouble() else { return false }
        var writer = CBORWriter()
        writer.double(value)
        return bytes[index..<head.end].elementsEqual(writer.bytes)
    }

    /// Returns the size of the shortest head with `argument`.
    private static func shortestHead(_ argument: UInt64) -> Int {
        switch argument {
        case ..<24: 1
        case ...0xff: 2
        case ...0xffff: 3
        case ...0xffff_ffff: 5
        default: 9
        }
    }
}

extension CBORWriter {
    /// Returns whether the text key `key` comes before `other` in a deterministic map.
    ///
    /// Section 4.2.1 orders keys by their encodings, which begin with the head. Therefore a shorter text comes before a
    /// longer one, and only texts of the same length are compared bytewise.
    @inlinable
    package static func textKey(_ key: String, precedes other: String) -> Bool {
        let (left, right) = (key.utf8, other.utf8)
        guard left.count == right.count else { return left.count < right.count }
        return left.lexicographicallyPrecedes(right)
    }
}
