extension CBORReader {
    /// Skips one whole item of any kind.
    ///
    /// The item must be well-formed (RFC 8949 appendix C), but need not be valid: text may not be UTF-8, and map keys
    /// may repeat.
    package mutating func skip() throws(CBORError) {
        cursor = try end(ofItemAt: cursor, depth: 0)
    }

    /// Skips one whole item and returns its range, to be copied or read later.
    package mutating func readItemRange() throws(CBORError) -> Range<Int> {
        let start = cursor
        try skip()
        return start..<cursor
    }

    private func end(ofItemAt index: Int, depth: Int) throws(CBORError) -> Int {
        let head = try head(at: index)
        switch head.majorType {
        case 0, 1:
            return head.end
        case 2, 3:
            if head.isIndefinite { return try forEachChunk(of: head) { _ in } }
            return try payload(head).upperBound
        case 4, 5, 6:
            guard depth < Self.nestingLimit else { throw CBORError(.nestingTooDeep, at: index) }
            return try end(ofContentsAfter: head, depth: depth + 1)
        default:
            guard head.initial != 0xff else { throw CBORError(.malformed, at: index) }
            return head.end
        }
    }

    private func end(ofContentsAfter head: CBORHead, depth: Int) throws(CBORError) -> Int {
        var index = head.end
        if head.isIndefinite {
            var count = 0
            while try self.head(at: index).initial != 0xff {
                index = try end(ofItemAt: index, depth: depth)
                count += 1
            }
            // A key without a value.
            guard head.majorType == 4 || count.isMultiple(of: 2) else {
                throw CBORError(.malformed, at: index)
            }
            return index + 1
        }
        let count: Int
        switch head.majorType {
        case 4: count = try itemCount(head, bytesEach: 1)
        case 5: count = try itemCount(head, bytesEach: 2) * 2
        default: count = 1
        }
        for _ in 0..<count {
            index = try end(ofItemAt: index, depth: depth)
        }
        return index
    }
}
