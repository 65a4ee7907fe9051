extension CBORReader {
    /// Reads a text string, in one chunk or several (section 3.2.3), and validates its UTF-8.
    @inlinable
    package mutating func readText() throws(CBORError) -> String {
        let head = try head(at: cursor)
        guard head.majorType == 3 else { throw mismatch(.text) }
        guard !head.isIndefinite else { return try readChunkedText(head) }
        let range = try payload(head)
        guard let text = text(in: range) else {
            throw CBORError(.invalidUTF8, at: cursor)
        }
        cursor = range.upperBound
        return text
    }

    /// Reads a text string and returns the range of its UTF-8.
    ///
    /// Set `validating` to false where an invalid byte would only fail a comparison. A string in chunks, which has no
    /// single range, throws `unsupported`.
    @inlinable
    package mutating func readTextRange(
        validating: Bool = true
    ) throws(CBORError) -> Range<Int> {
        let head = try head(at: cursor)
        guard head.majorType == 3 else { throw mismatch(.text) }
        guard !head.isIndefinite else { throw CBORError(.unsupported, at: cursor) }
        let range = try payload(head)
        guard !validating || isUTF8(range) else { throw CBORError(.invalidUTF8, at: cursor) }
        cursor = range.upperBound
        return range
    }

    /// Reads a byte string, in one chunk or several.
    @inlinable
    package mutating func readByteString() throws(CBORError) -> [UInt8] {
        let head = try head(at: cursor)
        guard head.majorType == 2 else { throw mismatch(.bytes) }
        guard !head.isIndefinite else { return try readChunks(head) }
        let range = try payload(head)
        cursor = range.upperBound
        return Array(bytes[range])
    }

    /// Reads a byte string and returns its range; a string in chunks throws `unsupported`.
    @inlinable
    package mutating func readByteStringRange() throws(CBORError) -> Range<Int> {
        let head = try head(at: cursor)
        guard head.majorType == 2 else { throw mismatch(.bytes) }
        guard !head.isIndefinite else { throw CBORError(.unsupported, at: cursor) }
        let range = try payload(head)
        cursor = range.upperBound
        return range
    }

    /// Returns the text at a range of this reader, or nil if it is not UTF-8.
    @inlinable
    package func text(in range: Range<Int>) -> String? {
        // `String(validating:as:)` looks up generic metadata on each call; `decoding` would repair.
        guard isUTF8(range) else { return nil }
        return withBytes(in: range) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether the bytes at a range of this reader equal `other`.
    @inlinable
    package func textEquals(_ range: Range<Int>, _ other: some Collection<UInt8>) -> Bool {
        let equal = other.withContiguousStorageIfAvailable { wanted in
            guard wanted.count == range.count else { return false }
            return withBytes(in: range) { Self.equalBytes($0, wanted) }
        }
        return equal ?? bytes[range].elementsEqual(other)
    }

    /// Passes the bytes at `range` to a closure without a slice, to save a retain and a release.
    @inlinable
    @inline(__always)
    func withBytes<Result>(
        in range: Range<Int>,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        precondition(
            range.lowerBound >= bytes.startIndex && range.upperBound <= bytes.endIndex,
            "a range lies within the bytes"
        )
        let offset = range.lowerBound &- bytes.startIndex
        return bytes.withUnsafeBufferPointer { buffer in
            body(UnsafeBufferPointer(rebasing: buffer[offset..<(offset &+ range.count)]))
        }
    }

    /// Compares two buffers of the same length eight bytes at a time.
    @inlinable
    @inline(__always)
    static func equalBytes(
        _ lhs: UnsafeBufferPointer<UInt8>,
        _ rhs: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let left = UnsafeRawBufferPointer(lhs)
        let right = UnsafeRawBufferPointer(rhs)
        var offset = 0
        while left.count &- offset >= 8 {
            guard
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset &+= 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else { return false }
            offset &+= 1
        }
        return true
    }

    @usableFromInline
    mutating func readChunks(_ head: CBORHead) throws(CBORError) -> [UInt8] {
        var content: [UInt8] = []
        cursor = try forEachChunk(of: head) { content.append(contentsOf: bytes[$0]) }
        return content
    }

    /// Reads the chunks of a text, each of which must be UTF-8 by itself (section 3.2.3).
    @usableFromInline
    mutating func readChunkedText(_ head: CBORHead) throws(CBORError) -> String {
        var content = ""
        var invalid: Int?
        let end = try forEachChunk(of: head) { range in
            guard let chunk = text(in: range) else {
                invalid = invalid ?? range.lowerBound
                return
            }
            content += chunk
        }
        if let invalid { throw CBORError(.invalidUTF8, at: invalid) }
        cursor = end
        return content
    }

    /// Visits the chunks of a string of indefinite length, and returns the index after its break.
    func forEachChunk(
        of head: CBORHead,
        _ body: (Range<Int>) -> Void
    ) throws(CBORError) -> Int {
        var index = head.end
        while true {
            let chunk = try self.head(at: index)
            if chunk.initial == 0xff { return chunk.end }
            // Chunks are definite strings of the same major type; they do not nest.
            guard chunk.majorType == head.majorType, !chunk.isIndefinite else {
                throw CBORError(.malformed, at: index)
            }
            let range = try payload(chunk)
            body(range)
            index = range.upperBound
        }
    }
}
